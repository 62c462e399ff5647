"""A sealed folder through the deployed control plane, roles enforced, to its run's plan."""

from __future__ import annotations

from functools import partial

import pytest
from deployed import PAIR, Line, until

from contracts import layout
from contracts.ledger import DropRecord, SetObject
from contracts.names import drop_id
from contracts.plan import Plan
from contracts.rejection import Rejection
from lambdas.logic.reconcile_set import MISSING

pytestmark = [pytest.mark.line, pytest.mark.emulator]


def drop_of(line: Line, key: str, version: str) -> DropRecord:
    """What became of an upload, once something did."""
    return until(partial(line.ledger.drops.get, drop_id(line.bucket, key, version)), 60)


def known(line: Line, pipeline: str) -> dict[str, SetObject]:
    """Files of the folder `day`, by name and version."""
    found = line.ledger.sets.objects(pipeline, "day").values()
    return {f"{it.key.rsplit('/', 1)[1]}@{it.version_id}": it for it in found}


def test_a_sealed_folder_of_three_shards_is_one_drop_in_exact_versions(line: Line):
    line.register("sets")
    place = layout.set_folder("sets", "day")
    names = ["part-0.jsonl", "part-1 ü+%.jsonl", "part-2.jsonl"]
    old = line.put(place + names[0])
    versions = [line.put(place + name) for name in names]
    line.put(place + "_committed_17", b"{}")
    until(lambda: len(known(line, "sets")) == 4, 60)
    assert line.runs("sets") == []
    with line.stand_in():
        seal = line.put(layout.seal("sets", "day"), b"")
        (run,) = line.ended("sets")
    assert (run.status, run.drops) == ("PUBLISHED", 1)
    plan = Plan.from_bytes(line.read(layout.plan(run.run)), where="plan.json")
    (drop,) = plan.drops
    assert (drop.key, drop.version_id) == (layout.seal("sets", "day"), seal)
    assert [(it.key, it.version_id, it.size) for it in drop.objects or ()] == [
        (place + name, version, len(PAIR)) for name, version in zip(names, versions, strict=True)
    ]
    found = known(line, "sets")
    assert found.pop(f"{names[0]}@{old}").status == "rejected"
    assert {it.run for it in found.values()} == {run.run}
    place_of_report = layout.rejection("sets", f"day/{names[0]}", old)
    report = Rejection.from_bytes(line.read(place_of_report), where=place_of_report)
    assert "overwritten" in report.reason

    empty = line.put(layout.seal("sets", "empty"), b"")
    refused = drop_of(line, layout.seal("sets", "empty"), empty)
    assert (refused.status, refused.reason) == ("rejected", "the folder holds no file")


def test_sweep_tells_of_a_seal_that_never_came(line: Line):
    line.register("unsealed", data={"seal_limit_s": 60})
    line.put(layout.set_folder("unsealed", "day") + "a.jsonl")
    key = layout.rejection("unsealed", f"day/{layout.SEAL}", MISSING)

    def told() -> bool:
        listed = line.client("s3").list_objects_v2(Bucket=line.bucket, Prefix=key)
        return bool(listed.get("KeyCount"))

    until(told, 200, every_s=2)
    report = Rejection.from_bytes(line.read(key), where=key)
    assert "1 file waits in incoming/unsealed/day/ for its _SUCCESS" in report.reason
    assert line.runs("unsealed") == []
