"""One byte form, no unknown fields, a version on whatever is stored."""

from __future__ import annotations

import importlib
import json
import pkgutil
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.recipes import pipeline
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import contracts
from contracts.errors import ContractBroken
from contracts.hardware import Hardware
from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.ledger import Item, RunRecord
from contracts.model import Contract, Stored, canonical_json, digest
from contracts.pipeline import Pipeline
from contracts.plan import Plan, PlannedDrop, PlannedObject
from contracts.policy import PolicyVersion
from contracts.progress import Progress
from contracts.rejection import Rejection
from contracts.result import Failure, PhaseResult, Problem

AT = datetime(2026, 3, 4, 5, 6, 7, 123456, tzinfo=UTC)
RUN = "r260304-050607-abcdef"
REF = {"kind": "checkpoint", "uri": "s3://b/k/", "manifest": "0" * 64}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def modules() -> list[Any]:
    names = [it.name for it in pkgutil.iter_modules(contracts.__path__)]
    return [importlib.import_module(f"contracts.{name}") for name in names]


def every(root: type[Any]) -> list[type[Any]]:
    modules()
    found, rest = [], [root]
    while rest:
        children = [
            it for it in rest.pop().__subclasses__() if it.__module__.startswith("contracts")
        ]
        found += children
        rest += children
    return found


EXAMPLES: list[Stored] = [
    Claim(agent="a", at=AT),
    Stop(reason="cancelled", at=AT),
    Exit(how="lost", at=AT),
    JobSpec(
        run=RUN,
        pipeline="tone",
        round=1,
        phase="collect",
        attempt=1,
        nonce="n" * 16,
        bucket="b",
        workspace="/w",
        inputs={"start": REF},  # type: ignore[dict-item]
        last_round=True,
        hardware=Hardware(),
        deadline=AT,
        progress_interval_s=15,
        timeout_s=3600,
    ),
    pipeline("tone", rounds=2),
    Plan(
        run=RUN,
        pipeline_version="0" * 64,
        pipeline=pipeline("tone"),
        drops=(
            PlannedDrop(id="d", key="incoming/tone/ü", version_id="v", size=1, accepted_at=AT),
            PlannedDrop(
                id="s",
                key="incoming/tone/day/_SUCCESS",
                version_id="v",
                size=2,
                accepted_at=AT,
                objects=(PlannedObject(key="incoming/tone/day/ü", version_id="v", size=2),),
            ),
        ),
        parent=None,
        created_at=AT,
    ),
    PolicyVersion(
        pipeline="tone",
        version=0,
        policy=REF,  # type: ignore[arg-type]
        run=RUN,
        parent=None,
        pipeline_version="0" * 64,
        drops=1,
        plan_key="k",
        metrics={"gain": 0.1},
        created_at=AT,
    ),
    Progress(
        run=RUN, round=1, phase="collect", attempt=1, nonce="n", sequence=1, at=AT, stage="Reading"
    ),
    PhaseResult(
        run=RUN,
        round=1,
        phase="collect",
        attempt=1,
        nonce="n",
        outcome="failed",
        failure=Failure(error="JobFailed", cause="why"),
        started_at=AT,
        ended_at=AT,
    ),
    Rejection(
        bucket="b",
        key="k",
        version_id="v",
        refused_by="intake",
        reason="why",
        remedy="how",
        problems=(Problem(line=1, field="f", problem="p", remedy="r"),),
        at=AT,
    ),
]
IDS = [type(it).__name__ for it in EXAMPLES]


def test_every_stored_contract_is_among_the_examples_or_tested_elsewhere() -> None:
    elsewhere = {"Manifest"}
    assert {it.__name__ for it in every(Stored)} == set(IDS) | elsewhere


@pytest.mark.parametrize("value", EXAMPLES, ids=IDS)
def test_what_is_stored_comes_back_the_same(value: Stored) -> None:
    data = value.to_bytes()
    again = type(value).from_bytes(data, where="here")
    assert again == value
    assert again.to_bytes() == data
    assert json.loads(data)["schema_version"] == 1


@pytest.mark.parametrize("value", EXAMPLES, ids=IDS)
@pytest.mark.parametrize(
    "change", [{"surprise": 1}, {"schema_version": 2}, {"schema_version": "1"}]
)
def test_unknown_fields_and_other_versions_are_refused_with_the_place(
    value: Stored, change: dict[str, Any]
) -> None:
    data = json.dumps(json.loads(value.to_bytes()) | change)
    with pytest.raises(ContractBroken, match=rf"here: {next(iter(change))}"):
        type(value).from_bytes(data, where="here")


@pytest.mark.parametrize("value", EXAMPLES, ids=IDS)
def test_nothing_can_be_changed(value: Stored) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        value.schema_version = 1


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff", b"1", b"{}", b"[" * 10_000], ids=repr
)
def test_what_is_no_such_object_is_refused_with_the_place(data: bytes) -> None:
    with pytest.raises(ContractBroken, match="here: ") as raised:
        Pipeline.from_bytes(data, where="here")
    assert "\n" not in str(raised.value)


def test_every_contract_is_frozen_and_all_but_the_open_ones_refuse_what_they_do_not_know() -> None:
    grow = {"Item", "RunState"} | {it.__name__ for it in every(Item)}
    for contract in every(Contract):
        config = contract.model_config
        assert config["frozen"], contract
        assert config["extra"] == ("ignore" if contract.__name__ in grow else "forbid"), contract
        assert config["allow_inf_nan"] is False, contract
        assert config["hide_input_in_errors"], contract


def test_errors_never_show_what_was_put_in() -> None:
    with pytest.raises(ValidationError) as raised:
        RunRecord.model_validate({"run": "a secret token", "pipeline": "tone"})
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_are_finite(number: str) -> None:
    value = next(it for it in EXAMPLES if isinstance(it, Progress))
    data = value.to_bytes().replace(b'"metrics":{}', f'"metrics":{{"loss":{number}}}'.encode())
    with pytest.raises(ContractBroken, match=r"metrics|JSON"):
        Progress.from_bytes(data, where="here")


@given(value=JSON)
def test_equal_values_have_equal_bytes(value: Any) -> None:
    data = canonical_json(value)
    assert json.loads(data) == value
    assert canonical_json(json.loads(data)) == data


def test_canonical_json_is_sorted_dense_and_utf_8() -> None:
    assert canonical_json({"b": [1, "ü"], "a": None}) == '{"a":null,"b":[1,"ü"]}'.encode()
    assert canonical_json({"b": 1, "a": 2}) == canonical_json({"a": 2, "b": 1})
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Claim(agent="a", at=datetime(2026, 3, 4))


def test_a_spec_without_a_limit_of_its_work_has_the_bytes_that_it_had_before_there_was_one() -> (
    None
):
    spec = next(one for one in EXAMPLES if isinstance(one, JobSpec))
    before = spec.model_copy(update={"timeout_s": None}).to_bytes()
    assert b"timeout_s" not in before
    assert JobSpec.from_bytes(before, where="job.json").timeout_s is None
