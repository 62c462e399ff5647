"""Reports on what collect could not use: by the thousand, in bounded turns, none missing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from fakes import events, sets
from fakes.faults import Crash
from fakes.invariants import ledger_without_cursors
from fakes.world import World

from contracts import layout
from contracts.names import AttemptKey
from contracts.rejection import Rejection
from contracts.result import ObjectReport, PhaseResult, Problem
from lambdas.logic import tell_uploaders

PROBLEM = Problem(line=3, field="chosen", problem="is missing", remedy="add it")


@pytest.fixture
def job(world: World) -> AttemptKey:
    """A job of `collect` that was submitted and claimed."""
    run = world.start_run()
    world.graph.step(run)
    world.agent.answer_bell()
    (key,) = world.agent.jobs
    return key


def bad(drop: str, name: str) -> ObjectReport:
    return ObjectReport(
        drop=drop,
        key=f"incoming/tone/{name}",
        version_id="v",
        format="trl_pairs",
        evidence="its fields",
        records=4,
        usable=1,
        rejected=3,
        problems=(PROBLEM,),
        problem_count=3,
    )


def put_result(world: World, key: AttemptKey, count: int, drop: str = "") -> str:
    """A result with so many bad objects; the message that tells of it."""
    (attempt,) = world.attempts(key.run)
    now = datetime.now(UTC)
    drop = drop or next(item["id"] for (_, sk), item in world.table.items.items() if sk == "DROP")
    result = PhaseResult(
        run=key.run,
        round=key.round,
        phase=key.phase,
        attempt=key.attempt,
        nonce=attempt.nonce,
        outcome="no_data",
        objects=tuple(bad(drop, f"day/part-{n:05d}") for n in range(count)),
        started_at=now,
        ended_at=now,
    )
    world.objects.put(layout.result(key), result.to_bytes())
    world.mail = []
    return events.created(world.objects.bucket, layout.result(key), "v", 10)


def reports(world: World) -> set[str]:
    return {key for key in world.objects.versions if key.startswith("rejected/")}


def test_a_few_reports_are_written_as_the_result_is_heard(world: World, job: AttemptKey) -> None:
    assert world.deliver("reports", put_result(world, job, 50)) == []
    assert len(reports(world)) == 50
    assert not [pk for pk, _ in world.table.items if pk == "TELLING"]


def test_thousands_are_answered_for_at_once_and_written_turn_by_turn(
    world: World, job: AttemptKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tell_uploaders, "TURN_S", 8e-6)  # eight readings of the clock
    message = put_result(world, job, 5000)
    assert world.deliver("reports", message) == []
    assert world.attempts(job.run)[0].status == "SUCCEEDED"
    assert len(reports(world)) == 50
    turns = 0
    while len(reports(world)) < 5000:
        before = len(reports(world))
        assert world.sweep()["failed"] == 0
        assert len(reports(world)) > before
        turns += 1
    assert turns > 2
    world.sweep()
    assert not [pk for pk, _ in world.table.items if pk == "TELLING"]
    ledger = ledger_without_cursors(world)
    written = {key: len(versions) for key, versions in world.objects.versions.items()}
    assert world.deliver("reports", message) == []
    assert ledger_without_cursors(world) == ledger
    assert {key: len(versions) for key, versions in world.objects.versions.items()} == written


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_reports_are_written_leaves_none_out(
    world: World, job: AttemptKey, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tell_uploaders, "AT_ONCE_MAX", 4)
    monkeypatch.setattr(tell_uploaders, "CHUNK", 3)
    message = put_result(world, job, 11)
    for crash_at in range(1, 40):
        world.faults.arm(crash_at, when)  # type: ignore[arg-type]
        try:
            world.deliver("reports", message)
            world.sweep()
        except Crash:
            continue
        finally:
            world.faults.disarm()
    world.deliver("reports", message)
    for _ in range(3):
        world.sweep()
    assert len(reports(world)) == 11
    assert not [pk for pk, _ in world.table.items if pk == "TELLING"]


def test_a_drop_of_which_nothing_was_usable_keeps_the_reason(world: World, job: AttemptKey) -> None:
    world.deliver("reports", put_result(world, job, 2))
    (drop,) = [item for (_, sk), item in world.table.items.items() if sk == "DROP"]
    assert (drop["status"], drop["run"], drop["noted_by"]) == ("planned", job.run, job.run)
    assert drop["reason"] == (
        "6 of 8 records were not usable, in 2 of 2 files; first: line 3, chosen: is missing"
    )
    world.end_run(job.run)
    (run,) = world.runs("tone")
    assert run.status == "NO_DATA"
    assert not [key for key in world.objects.versions if "-optimize-" in key]


def test_an_object_that_could_not_be_read_is_told_by_its_cause(
    world: World, job: AttemptKey
) -> None:
    message = put_result(world, job, 1)
    stored = world.objects.get(layout.result(job), limit=1 << 30)
    assert stored is not None
    result = PhaseResult.from_bytes(stored, where="")
    gone = Problem(line=0, field="file", problem="it was deleted", remedy="upload it again")
    unread = result.objects[0].model_copy(
        update={"records": 0, "usable": 0, "rejected": 0, "problems": (gone,), "problem_count": 1}
    )
    changed = result.model_copy(update={"objects": (unread,)})
    world.objects.put(layout.result(job), changed.to_bytes())
    world.deliver("reports", message)
    body = sets.report_on(world, unread.key, "v")
    assert Rejection.from_bytes(body or b"", where="").reason == "it was deleted"


def test_what_an_older_run_says_of_a_drop_does_not_replace_what_a_newer_found(
    world: World, job: AttemptKey
) -> None:
    (drop,) = [item["id"] for (_, sk), item in world.table.items.items() if sk == "DROP"]
    assert world.ledger.drops.note(drop, "r991231-235959-newest", "newer")
    world.deliver("reports", put_result(world, job, 1, drop))
    found = world.ledger.drops.get(drop)
    assert found is not None
    assert found.reason == "newer"


def test_a_result_of_a_stopped_attempt_is_told_of_and_changes_nothing_in_the_ledger(
    world: World, job: AttemptKey
) -> None:
    message = put_result(world, job, 60)
    world.graph.abort(job.run)
    world.tell_ends()
    world.deliver_all()
    before = ledger_without_cursors(world)
    assert world.deliver("reports", message) == []
    assert ledger_without_cursors(world) == before
    assert len(reports(world)) == 50


def test_what_was_put_over_a_result_by_another_job_is_not_told_of(
    world: World, job: AttemptKey
) -> None:
    message = put_result(world, job, 60)
    assert world.deliver("reports", message) == []
    body = world.objects.get(layout.result(job), limit=1 << 30) or b""
    forged = PhaseResult.from_bytes(body, where="result").model_copy(update={"nonce": "x" * 32})
    world.objects.put(layout.result(job), forged.to_bytes())
    world.sweep()
    assert len(reports(world)) == 50
    assert not [pk for pk, _ in world.table.items if pk == "TELLING"]
