"""Runs take turns: the lease, its end, pause and resume, cancel and retry."""

from __future__ import annotations

import pytest
from fakes.agent import Ending
from fakes.recipes import pipeline
from fakes.world import World

from contracts import layout
from contracts.errors import RunNotOpen
from contracts.names import AttemptKey
from contracts.plan import Plan
from lambdas.logic import mark_plan
from lambdas.logic.close_run import close_run
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.plan_run import plan_run
from lambdas.logic.retry_run import retry_run
from lambdas.time_left import TimeLeft

_ALL = 1 << 30


def plan_of(world: World, run: str) -> Plan:
    body = world.objects.get(layout.plan(run), limit=_ALL)
    assert body is not None
    return Plan.from_bytes(body, where="plan.json")


def fail(world: World, phase: str = "collect", ending: Ending = "JobFailed") -> str:
    run = world.start_run()
    world.until(run, phase)
    world.agent.answer_bell()
    world.agent.finish(AttemptKey(run, 1, phase, 1), ending)  # type: ignore[arg-type]
    world.end_run(run)
    return run


def test_a_drop_during_a_run_waits_for_its_end_and_gets_the_next(world: World) -> None:
    first = world.start_run()
    world.upload("incoming/tone/late.jsonl", b"{}")
    world.deliver_all()
    assert len(world.executions.states) == 1
    world.end_run(first)
    world.deliver_all()
    second = world.runs("tone")[-1].run
    assert second != first
    lease = world.ledger.runs.lease("tone")
    assert lease is None or lease.run == second


def test_whoever_looks_for_a_run_finds_the_one_there_is(world: World) -> None:
    run = world.start_run()
    assert ensure_run("tone", world.plane) == run
    assert ensure_run("tone", world.plane) == run
    assert len(world.executions.inputs) == 1


def test_nothing_waiting_starts_nothing(world: World) -> None:
    assert ensure_run("tone", world.plane) is None
    assert world.table.items == {}


def test_a_drop_that_comes_between_the_end_of_a_run_and_its_look_is_not_lost(
    world: World,
) -> None:
    """Intake records, then tries the lease; the end frees it, then looks for drops."""
    run = world.start_run()
    world.executions.end(run, "ABORTED")
    release = world.plane.ledger.runs.release

    def drop_comes_first(*args: object, **kwargs: object) -> bool:
        world.upload("incoming/tone/late.jsonl", b"{}")
        world.deliver_all()
        return release(*args, **kwargs)  # type: ignore[arg-type]

    world.plane.ledger.runs.release = drop_comes_first  # type: ignore[method-assign]
    close_run(run, world.executions.describe(run), world.plane)
    assert [it.status for it in world.runs("tone")] == ["CANCELLED", "OPEN"]


def test_two_failed_runs_in_a_row_pause_the_pipeline_until_it_is_resumed(world: World) -> None:
    fail(world)
    assert not world.ledger.pipelines.get("tone").paused
    fail(world)
    record = world.ledger.pipelines.get("tone")
    assert (record.paused, record.consecutive_failures) == (True, 2)
    world.upload("incoming/tone/third.jsonl", b"{}")
    world.deliver_all()
    world.sweep()
    assert len(world.runs("tone")) == 2
    assert world.ledger.pipelines.resume("tone")
    assert not world.ledger.pipelines.resume("tone")
    world.sweep()
    assert [run.status for run in world.runs("tone")] == ["FAILED", "FAILED", "OPEN"]


@pytest.mark.parametrize("between", ["published", "cancelled"])
def test_only_failures_in_a_row_count(world: World, between: str) -> None:
    fail(world)
    run = world.start_run()
    if between == "cancelled":
        world.graph.abort(run)
    world.end_run(run)
    failures = world.ledger.pipelines.get("tone").consecutive_failures
    assert failures == (0 if between == "published" else 1)
    fail(world)
    assert world.ledger.pipelines.get("tone").paused == (between == "cancelled")


def test_a_run_closed_many_times_counts_once(world: World) -> None:
    run = fail(world)
    for _ in range(3):
        close_run(run, world.executions.describe(run), world.plane)
    record = world.ledger.pipelines.get("tone")
    assert (record.consecutive_failures, record.paused) == (1, False)


def test_closing_a_run_never_frees_the_lease_of_the_next(world: World) -> None:
    first = fail(world)
    second = world.start_run()
    close_run(first, world.executions.describe(first), world.plane)
    lease = world.ledger.runs.lease("tone")
    assert lease is not None
    assert lease.run == second


def test_a_run_that_recorded_its_outcome_keeps_it(world: World) -> None:
    """The execution is aborted between the ledger's word and its own end."""
    run = world.start_run()
    world.until(run, "publish")
    world.faults.arm(5, "after")  # version 0, pointer, version 1, pointer, the run's end
    world.graph.step(run)
    assert world.faults.crashed
    assert world.runs("tone")[0].status == "PUBLISHED"
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    assert world.runs("tone")[0].status == "PUBLISHED"
    assert world.ledger.pipelines.get("tone").consecutive_failures == 0


def test_a_cancelled_run_is_retried_with_the_same_drops(world: World) -> None:
    run = world.start_run()
    world.until(run, "evaluate")
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    retried = retry_run(run, world.plane)
    world.graph.step(retried)
    old, new = plan_of(world, run), plan_of(world, retried)
    assert (new.drops, new.pipeline_version, new.parent) == (
        old.drops,
        old.pipeline_version,
        old.parent,
    )
    assert new.retry_of == run
    assert [(it.round, it.phase) for it in new.handoffs] == [(1, "collect"), (1, "optimize")]
    assert world.ledger.runs.get(retried).retry_of == run  # type: ignore[union-attr]
    for drop in new.drops:
        known = world.ledger.drops.get(drop.id)
        assert known is not None
        assert known.run == run


def test_a_retry_takes_the_recipe_as_it_was_mended_and_starts_over(world: World) -> None:
    run = world.start_run()
    world.until(run, "evaluate")
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    world.register(pipeline("tone", attempts=2))
    retried = retry_run(run, world.plane)
    world.graph.step(retried)
    old, new = plan_of(world, run), plan_of(world, retried)
    assert new.drops == old.drops
    assert new.pipeline.attempts == 2
    assert new.pipeline_version != old.pipeline_version
    assert new.handoffs == ()


def test_a_retry_of_a_retry_keeps_the_handoffs_of_both(world: World) -> None:
    first = fail(world, "optimize")
    second = retry_run(first, world.plane)
    world.until(second, "evaluate")
    world.agent.answer_bell()
    world.agent.finish(AttemptKey(second, 1, "evaluate", 1), "JobFailed")
    world.end_run(second)
    third = retry_run(second, world.plane)
    world.graph.step(third)
    taken_over = [(it.phase, it.result_key) for it in plan_of(world, third).handoffs]
    assert taken_over == [
        ("collect", layout.result(AttemptKey(first, 1, "collect", 1))),
        ("optimize", layout.result(AttemptKey(second, 1, "optimize", 1))),
    ]
    world.end_run(third)
    assert world.runs("tone")[-1].status == "PUBLISHED"


def test_a_retry_leaves_new_drops_to_the_next_run(world: World) -> None:
    run = fail(world)
    world.upload("incoming/tone/new.jsonl", b"{}")
    world.faults.arm(2, "after")
    world.deliver_all()
    retried = retry_run(run, world.plane)
    world.graph.step(retried)
    assert len(plan_of(world, retried).drops) == 1
    assert len(world.ledger.drops.waiting("tone", limit=9)) == 1


def test_a_paused_pipeline_lets_a_person_retry(world: World) -> None:
    fail(world)
    run = fail(world)
    assert world.ledger.pipelines.get("tone").paused
    retried = retry_run(run, world.plane)
    world.end_run(retried)
    assert world.runs("tone")[-1].status == "PUBLISHED"
    assert world.ledger.pipelines.get("tone").paused, "only a person resumes it"


def test_what_cannot_be_retried_is_refused_with_the_reason(world: World) -> None:
    with pytest.raises(RunNotOpen, match="there is no run"):
        retry_run("r260304-050607-nobody", world.plane)
    published = world.start_run()
    world.end_run(published)
    with pytest.raises(RunNotOpen, match="is PUBLISHED"):
        retry_run(published, world.plane)
    failed = fail(world)
    world.start_run()
    with pytest.raises(RunNotOpen, match="busy"):
        retry_run(failed, world.plane)


def test_a_retry_of_a_run_that_was_never_planned_takes_what_waits(world: World) -> None:
    world.upload("incoming/tone/a.jsonl", b"{}")
    world.deliver_all()
    run = world.runs("tone")[0].run
    world.executions.end(run, "ABORTED")
    close_run(run, world.executions.describe(run), world.plane)
    second = world.runs("tone")[-1].run
    world.executions.end(second, "ABORTED")
    world.plane.ledger.pipelines.note("tone")
    world.table.items[("PIPELINES", "tone")]["paused"] = True
    close_run(second, world.executions.describe(second), world.plane)
    retried = retry_run(second, world.plane)
    world.graph.step(retried)
    plan = plan_of(world, retried)
    assert (len(plan.drops), plan.retry_of, plan.handoffs) == (1, None, ())
    known = world.ledger.drops.get(plan.drops[0].id)
    assert known is not None
    assert known.run == retried


def test_a_run_cut_short_while_its_drops_are_marked_is_closed_bit_by_bit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of drops are more than one call has time for."""
    versions = {name: world.upload(name) for name in (f"incoming/tone/{n}" for n in range(6))}
    world.deliver_all()
    run = world.runs("tone")[0].run
    with monkeypatch.context() as patched:
        patched.setattr(mark_plan, "mark_drop", _cut_short)
        with pytest.raises(RuntimeError):
            plan_run(run, world.plane, TimeLeft.of(world.clock, 300))
    monkeypatch.setattr(mark_plan, "MARKING_S", 3e-6)
    world.executions.end(run, "ABORTED")
    turns = 0
    while world.ledger.runs.lease("tone") and turns < len(versions):
        world.sweep()
        turns += 1
    assert 1 < turns < len(versions)
    drops = [world.drop(name, version) for name, version in versions.items()]
    assert {drop.run for drop in drops if drop} == {run}


def _cut_short(*_: object) -> bool:
    raise RuntimeError("cut short")
