"""What no event told: each thing that sweep looks for, within bounded turns."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fakes.recipes import pipeline
from fakes.world import World
from hypothesis import given
from hypothesis import strategies as st

from contracts import layout
from contracts.ledger import AttemptRecord
from contracts.names import AttemptKey
from lambdas.adapters.queue_runner import QueueRunner
from lambdas.ledger.table import Table
from lambdas.ledger.turns import Turns
from lambdas.logic import reconcile
from lambdas.logic.reconcile import PIPELINES_S, TURN_S
from lambdas.logic.reconcile_pipeline import STARTING_GRACE_S

PATIENCE = pipeline("tone").patience


@pytest.fixture
def job(world: World) -> AttemptKey:
    """A job of `collect` that was submitted and not yet claimed."""
    run = world.start_run()
    world.graph.step(run)
    return AttemptKey(run, 1, "collect", 1)


def attempt(world: World, key: AttemptKey) -> AttemptRecord:
    (found,) = [it for it in world.attempts(key.run) if it.attempt == key.attempt]
    return found


def error_of(world: World, key: AttemptKey) -> str:
    outcome = world.executions.tasks[attempt(world, key).token].outcome
    return outcome.error if outcome else ""


def test_a_quiet_line_is_left_as_it_is(world: World) -> None:
    assert world.sweep() == {"pipelines": 0, "jobs": 0, "failed": 0}
    world.end_run(world.start_run())
    world.sweep()
    before = dict(world.table.items)
    assert world.sweep() == {"pipelines": 1, "jobs": 0, "failed": 0}
    assert world.table.items == before


def test_a_drop_without_a_run_gets_one(world: World) -> None:
    world.upload("incoming/tone/a.jsonl", b"{}")
    world.faults.arm(2, "after")  # noted, recorded as waiting, and dead
    world.deliver_all()
    assert world.runs("tone") == []
    world.sweep()
    assert [run.status for run in world.runs("tone")] == ["OPEN"]


def test_a_run_without_an_execution_gets_it(world: World) -> None:
    world.upload("incoming/tone/a.jsonl", b"{}")
    world.faults.arm(3, "after")  # lease and run are recorded
    world.deliver_all()
    (run,) = world.runs("tone")
    assert (run.status, world.executions.states) == ("STARTING", {})
    world.clock.advance(STARTING_GRACE_S * 2)
    world.sweep()
    assert world.runs("tone")[0].status == "OPEN"
    assert list(world.executions.states) == [run.run]


def test_an_execution_just_started_is_not_looked_at_in_the_same_turn(world: World) -> None:
    """DescribeExecution may not show it yet, and the run would be failed for that."""
    world.upload("incoming/tone/a.jsonl", b"{}")
    world.faults.arm(3, "after")
    world.deliver_all()
    world.clock.advance(STARTING_GRACE_S * 2)
    world.executions.describe = lambda run: None  # type: ignore[method-assign]
    world.sweep()
    assert world.runs("tone")[0].status == "OPEN"


def test_an_execution_that_never_came_to_be_fails_its_run_after_a_grace(world: World) -> None:
    run = world.start_run()
    del world.executions.states[run]
    world.sweep()
    assert world.runs("tone")[0].status == "OPEN"
    world.clock.advance(STARTING_GRACE_S + 1)
    world.sweep()
    (record,) = world.runs("tone")
    assert (record.status, record.reason) == ("FAILED", "Step Functions knows no such execution")
    assert world.ledger.runs.lease("tone") is None


@pytest.mark.parametrize("status", ["ABORTED", "FAILED", "TIMED_OUT", "SUCCEEDED"])
def test_a_run_whose_end_nobody_told_is_closed(world: World, job: AttemptKey, status: Any) -> None:
    world.executions.end(job.run, status)
    world.sweep()
    (record,) = world.runs("tone")
    assert record.status == ("CANCELLED" if status == "ABORTED" else "FAILED")
    assert attempt(world, job).status == "STOPPED"
    assert world.objects.head(layout.stop(job)) is not None
    assert world.ledger.runs.lease("tone") is None


def test_a_result_nobody_told_of_is_heard(world: World, job: AttemptKey) -> None:
    world.agent.answer_bell()
    world.agent.finish(job, "succeeded")
    world.mail = []
    world.sweep()
    assert attempt(world, job).status == "SUCCEEDED"
    outcome = world.executions.tasks[attempt(world, job).token].outcome
    assert outcome is not None
    assert outcome.succeeded


def test_a_job_that_ended_without_a_word_has_crashed(world: World, job: AttemptKey) -> None:
    world.agent.answer_bell()
    world.agent.kill_job(job, silent=True)
    world.sweep()
    record = attempt(world, job)
    assert (record.status, record.error) == ("FAILED", "JobCrashed")
    assert "lost" in record.cause
    assert error_of(world, job) == "JobCrashed"


def test_a_result_that_comes_while_sweep_looks_is_no_crash(
    world: World, job: AttemptKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Result first, mark of the end second: so sweep has to look for the mark first."""
    world.agent.answer_bell()
    head = world.objects.head
    look = QueueRunner.look

    def finishes_before_the_look(runner: QueueRunner, key: AttemptKey) -> Any:
        if key in world.agent.jobs:
            world.agent.finish(key, "succeeded")
            world.mail = []
        return look(runner, key)

    monkeypatch.setattr(QueueRunner, "look", finishes_before_the_look)
    monkeypatch.setattr(world.objects, "head", head)
    world.sweep()
    assert attempt(world, job).status == "SUCCEEDED"


def test_until_its_first_progress_sweep_keeps_a_job_alive_and_rings(
    world: World, job: AttemptKey
) -> None:
    token = attempt(world, job).token
    world.sweep()
    assert world.executions.tasks[token].heartbeats == 1
    assert world.queue.jobs == [layout.job(job)]
    world.clock.advance(61)
    world.sweep()
    assert world.executions.tasks[token].heartbeats == 2
    assert world.queue.jobs == [layout.job(job)] * 2


def test_after_its_first_progress_only_the_job_keeps_itself_alive(
    world: World, job: AttemptKey
) -> None:
    world.agent.answer_bell()
    world.agent.report_progress(job)
    world.deliver_all()
    token = attempt(world, job).token
    world.clock.advance(61)
    world.sweep()
    assert world.executions.tasks[token].heartbeats == 1
    assert world.queue.jobs == []


def test_a_job_that_does_not_start_within_the_limit_is_given_up(
    world: World, job: AttemptKey
) -> None:
    world.clock.advance(PATIENCE.start_limit_s + 1)
    world.sweep()
    record = attempt(world, job)
    assert record.error == error_of(world, job) == "JobNotStarted"
    assert "no agent has claimed the job; is one running?" in record.cause
    assert "patience.start_limit_s" in record.cause
    assert world.objects.head(layout.stop(job)) is not None
    world.agent.answer_bell()
    assert world.agent.started == []


def test_a_job_past_its_deadline_is_given_up(world: World, job: AttemptKey) -> None:
    world.agent.answer_bell()
    world.agent.report_progress(job)
    world.deliver_all()
    world.clock.advance(PATIENCE.timeout_s + 121)
    world.sweep()
    assert attempt(world, job).error == error_of(world, job) == "DeadlineExceeded"
    assert world.objects.head(layout.stop(job)) is not None


def test_a_job_whose_run_ended_while_it_was_submitted_is_stopped(world: World) -> None:
    """`submit` looked at the run before it ended, and put the job after."""
    run = world.start_run()
    reserve = world.plane.ledger.attempts.reserve

    def ends_meanwhile(record: AttemptRecord) -> bool:
        world.graph.abort(run)
        world.tell_ends()
        world.deliver_all()
        return reserve(record)

    world.plane.ledger.attempts.reserve = ends_meanwhile  # type: ignore[method-assign]
    world.graph.step(run)
    job = AttemptKey(run, 1, "collect", 1)
    world.agent.answer_bell()
    assert world.agent.started == [job]
    world.sweep()
    world.agent.look(job)
    assert world.agent.jobs == {}
    assert attempt(world, job).status == "STOPPED"
    world.sweep()
    assert not [key for key in world.table.items if key[0] == "JOBS"]


def test_a_fenced_job_that_still_runs_is_stopped(world: World, job: AttemptKey) -> None:
    world.agent.answer_bell()
    del world.objects.versions[layout.claim(job)]  # it looked unclaimed when it was fenced
    world.executions.expire(attempt(world, job).token)
    world.graph.walks[job.run].token = None
    world.graph.step(job.run)
    assert attempt(world, job._replace(attempt=2)).status == "SUBMITTED"
    del world.objects.versions[layout.stop(job)]
    world.sweep()
    assert world.objects.head(layout.stop(job)) is not None


def test_a_job_whose_attempt_ended_is_told_to_end_after_a_grace(
    world: World, job: AttemptKey
) -> None:
    world.agent.answer_bell()
    world.agent.alive = False
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    world.sweep()
    assert world.objects.head(layout.stop(job)) is None
    world.clock.advance(61)
    world.sweep()
    assert world.objects.head(layout.stop(job)) is not None


def test_a_job_that_nobody_marks_as_gone_is_forgotten_after_its_deadline(
    world: World, job: AttemptKey
) -> None:
    world.agent.answer_bell()
    world.agent.alive = False
    world.graph.abort(job.run)
    world.tell_ends()
    world.deliver_all()
    world.sweep()
    assert ("JOBS", job.job_name) in world.table.items
    world.clock.advance(PATIENCE.timeout_s + 181)
    world.sweep()
    assert ("JOBS", job.job_name) not in world.table.items


def test_a_job_that_is_gone_is_forgotten(world: World, job: AttemptKey) -> None:
    world.agent.answer_bell()
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    assert world.sweep()["jobs"] == 1
    assert world.sweep()["jobs"] == 0


@pytest.mark.parametrize("mark", ["claim.json", "exit.json", "result.json"])
def test_what_is_broken_in_one_pipeline_keeps_none_of_the_others_back(
    world: World, job: AttemptKey, mark: str
) -> None:
    world.register(pipeline("zeal"))
    world.upload("incoming/zeal/a.jsonl", b"{}")
    world.faults.arm(2, "after")
    world.deliver_all()
    world.objects.put(layout.attempt_object(job, mark), b"garbage")
    world.mail = []
    turn = world.sweep()
    assert turn["pipelines"] == 2
    assert (turn["failed"] > 0) == (mark != "result.json")
    assert [run.status for run in world.runs("zeal")] == ["OPEN"]


def test_a_service_that_fails_for_one_keeps_none_of_the_others_back(world: World) -> None:
    for name in ("alpha", "beta", "gamma"):
        world.register(pipeline(name))
        world.start_run(name)
    describe = world.executions.describe
    broken = world.runs("beta")[0].run

    def throttled(run: str) -> Any:
        if run == broken:
            raise RuntimeError("throttled")
        return describe(run)

    world.executions.describe = throttled  # type: ignore[method-assign]
    for run in (world.runs("alpha")[0].run, world.runs("gamma")[0].run):
        world.executions.end(run, "ABORTED")
    assert world.sweep()["failed"] == 1
    assert {run.status for name in ("alpha", "gamma") for run in world.runs(name)} == {"CANCELLED"}


def test_bounded_turns_come_to_every_pipeline(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "PIPELINES_PER_TURN", 3)
    names = [f"p{number}" for number in range(8)]
    for name in names:
        world.register(pipeline(name))
        world.executions.end(world.start_run(name), "ABORTED")
    assert [world.sweep()["pipelines"] for _ in range(3)] == [3, 3, 3]
    assert {world.runs(name)[0].status for name in names} == {"CANCELLED"}


def test_slow_pipelines_leave_time_for_the_rest_and_each_has_its_turn(world: World) -> None:
    """As where a cluster answers late: fewer than a turn's count, and more than its time."""
    names = [f"p{number}" for number in range(8)]
    for name in names:
        world.register(pipeline(name))
        world.start_run(name)
    describe = world.executions.describe
    seen: list[str] = []

    def slow(run: str) -> Any:
        world.clock.advance(PIPELINES_S / 2 - 1)
        seen.append(world.executions.inputs[run])
        return describe(run)

    world.executions.describe = slow  # type: ignore[method-assign]
    before = world.clock.now()
    assert [world.sweep()["pipelines"] for _ in range(3)] == [3, 3, 3]
    assert seen == [*names, "p0"]
    assert world.clock.now() - before < 3 * timedelta(seconds=TURN_S)


@given(
    items=st.integers(0, 12),
    count=st.integers(1, 6),
    gone=st.sets(st.integers(0, 11), max_size=4),
)
def test_turns_come_to_every_item_in_time(items: int, count: int, gone: set[int]) -> None:
    from fakes.table import FakeTable

    table: Table = FakeTable()
    for number in range(items):
        table.write(table.put({"pk": "P", "sk": f"{number:02d}"}, {}))
    turns = Turns(table)
    seen: list[list[str]] = [[item["sk"] for item in turns.next("P", count)]]
    for number in gone:  # items come and go; the others are reached all the same
        table.write(table.delete({"pk": "P", "sk": f"{number:02d}"}))
    stays = {f"{number:02d}" for number in range(items) if number not in gone}
    rounds = -(-items // count) + 1
    seen += [[item["sk"] for item in turns.next("P", count)] for _ in range(rounds)]
    assert stays <= {sk for turn in seen for sk in turn}
    for turn in seen:
        assert len(turn) == len(set(turn)) <= count
