"""Names, ids and their lengths."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from contracts.limits import (
    ATTEMPTS_MAX,
    JOB_NAME_MAX,
    PIPELINE_NAME_MAX,
    ROUNDS_MAX,
    RUN_ID_MAX,
)
from contracts.names import (
    PHASES,
    SUFFIX_ALPHABET,
    SUFFIX_LENGTH,
    PipelineName,
    RunId,
    attempt_key,
    drop_id,
    is_pipeline_name,
    run_id,
)

RUN = "r260304-050607-abcdef"
DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
PIPELINE = TypeAdapter(PipelineName)
RUNS = TypeAdapter(RunId)


def test_the_longest_job_name_is_a_dns_name_of_at_most_47_characters() -> None:
    longest = max(attempt_key(RUN, ROUNDS_MAX, phase, ATTEMPTS_MAX).job_name for phase in PHASES)
    assert JOB_NAME_MAX == 47
    assert len(longest) <= JOB_NAME_MAX
    assert len(RUN) <= RUN_ID_MAX == 28


@given(
    at=st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)),
    suffix=st.text(SUFFIX_ALPHABET, min_size=SUFFIX_LENGTH, max_size=SUFFIX_LENGTH),
    round_=st.integers(1, ROUNDS_MAX),
    attempt=st.integers(1, ATTEMPTS_MAX),
    phase=st.sampled_from(PHASES),
)
def test_every_job_name_is_a_dns_name(
    at: datetime, suffix: str, round_: int, attempt: int, phase: str
) -> None:
    run = run_id(at.replace(tzinfo=UTC), suffix)
    name = attempt_key(run, round_, phase, attempt).job_name  # type: ignore[arg-type]
    assert DNS_1035.fullmatch(name)
    assert len(name) <= JOB_NAME_MAX
    assert RUNS.validate_python(run) == run


def test_run_ids_sort_by_time_in_whatever_zone_it_is_told() -> None:
    early = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    later = (early + timedelta(seconds=1)).astimezone(timezone(timedelta(hours=-9)))
    assert run_id(early, "zzzzzz") < run_id(later, "aaaaaa")
    assert run_id(early, "abcdef") == RUN


@pytest.mark.parametrize("suffix", ["", "abc", "abcdefg", "ABCDEF", "abc-ef", "abcde\n", "äbcdef"])
def test_a_wrong_suffix_makes_no_run(suffix: str) -> None:
    with pytest.raises(ValueError, match="six"):
        run_id(datetime.now(UTC), suffix)


@pytest.mark.parametrize(
    ("run", "round_", "phase", "attempt"),
    [
        ("r1", 1, "collect", 1),
        (RUN + "\n", 1, "collect", 1),
        (RUN, 0, "collect", 1),
        (RUN, ROUNDS_MAX + 1, "collect", 1),
        (RUN, 1, "dream", 1),
        (RUN, 1, "collect", 0),
        (RUN, 1, "collect", ATTEMPTS_MAX + 1),
    ],
)
def test_a_wrong_part_makes_no_attempt(run: str, round_: int, phase: str, attempt: int) -> None:
    with pytest.raises(ValueError, match=r"run id|round|phase|attempt"):
        attempt_key(run, round_, phase, attempt)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a", "ab", "a-b", "a9", "a" * PIPELINE_NAME_MAX, "a--b"])
def test_names_a_pipeline_may_have(name: str) -> None:
    assert is_pipeline_name(name)
    assert PIPELINE.validate_python(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "A", "9a", "-a", "a-", "a_b", "a.b", "a/b", "ä", "a b", "a\n", "a" * 41, "a\x00"],
)
def test_names_a_pipeline_may_not_have(name: str) -> None:
    assert not is_pipeline_name(name)
    with pytest.raises(ValidationError):
        PIPELINE.validate_python(name)


@given(name=st.text(max_size=45))
def test_both_checks_of_a_pipelines_name_agree(name: str) -> None:
    try:
        PIPELINE.validate_python(name)
        valid = True
    except ValidationError:
        valid = False
    assert valid == is_pipeline_name(name)


def test_a_drops_id_is_that_of_its_version_alone() -> None:
    assert drop_id("b", "k", "v") == drop_id("b", "k", "v")
    ids = {
        drop_id(*parts)
        for parts in [("b", "k", "v"), ("b", "k", "w"), ("b", "l", "v"), ("c", "k", "v")]
    }
    assert len(ids) == 4
    assert all(re.fullmatch(r"[0-9a-f]{32}", it) for it in ids)


@given(keys=st.lists(st.text(max_size=8), min_size=2, max_size=2, unique=True))
def test_drops_of_two_keys_are_two(keys: list[str]) -> None:
    assert drop_id("b", keys[0], "v") != drop_id("b", keys[1], "v")
