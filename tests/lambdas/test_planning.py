"""Plan: which drops a run takes, in which versions, and by which recipe."""

from __future__ import annotations

import pytest
from asking import ask, plan_of, uploaded
from fakes.faults import Crash
from fakes.recipes import pipeline
from fakes.world import World, using

from contracts import layout
from contracts.errors import (
    PipelineUnknown,
    RunNotOpen,
)
from contracts.limits import DROPS_PER_RUN_MAX
from lambdas.logic.close_run import close_run
from lambdas.logic.deadlines import STATE_GRACE_S
from lambdas.logic.retry_run import retry_run


def test_a_plan_fixes_exact_versions_recipe_and_parent(world: World) -> None:
    run = uploaded(world, 2)
    answer = ask(world, run, "plan")
    plan = plan_of(world, run)
    assert answer == {
        "outcome": "planned",
        "run": run,
        "pipeline": "tone",
        "round": 1,
        "drops": 2,
        "rounds": 1,
        "heartbeat_s": 240,
        "timeout_s": 86_400 + STATE_GRACE_S,
    }
    assert plan.pipeline == pipeline("tone")
    assert plan.parent is None
    assert plan.retry_of is None
    for drop in plan.drops:
        known = world.drop(drop.key, drop.version_id)
        assert known is not None
        assert (known.status, known.run) == ("planned", run)
    assert world.ledger.drops.waiting("tone", limit=9) == []


def test_a_plan_that_crashed_at_any_effect_goes_on_where_it_stopped() -> None:
    for crash_at in range(1, 8):
        world = World()
        world.register(pipeline("tone"))
        with using(world.plane):
            run = uploaded(world, 5)
            world.faults.arm(crash_at, "after")
            with pytest.raises(Crash):
                ask(world, run, "plan")
            first = world.objects.versions[layout.plan(run)][0]
            world.upload("incoming/tone/meanwhile.jsonl", b"{}")
            world.deliver_all()
            assert ask(world, run, "plan")["drops"] == 5
            assert world.objects.versions[layout.plan(run)] == [first]
            assert [d.key for d in world.ledger.drops.waiting("tone", limit=9)] == [
                "incoming/tone/meanwhile.jsonl"
            ]
            assert world.runs("tone")[0].drops == 5


def test_planning_again_changes_nothing(world: World) -> None:
    run = uploaded(world, 3)
    first = ask(world, run, "plan")
    before = dict(world.table.items)
    world.clock.advance(100)
    assert ask(world, run, "plan") == first
    assert world.table.items == before


def test_a_plan_takes_the_oldest_drops_up_to_its_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DROPS_PER_RUN_MAX == 5_000
    monkeypatch.setattr("lambdas.logic.plan_run.DROPS_PER_RUN_MAX", 4)
    run = uploaded(world, 6)
    assert ask(world, run, "plan")["drops"] == 4
    rest = world.ledger.drops.waiting("tone", limit=9)
    assert [drop.key[-8:] for drop in rest] == [" 4.jsonl", " 5.jsonl"]


def test_a_run_without_drops_keeps_the_policy(world: World) -> None:
    run = uploaded(world, 1)
    for key in [key for key in world.table.items if key[1].startswith("WAITING")]:
        del world.table.items[key]
    assert ask(world, run, "plan")["outcome"] == "nothing_waiting"
    world.end_run(run)
    (record,) = world.runs("tone")
    assert (record.status, record.reason) == ("EMPTY", "no drop was waiting")
    assert world.ledger.pipelines.get("tone").consecutive_failures == 0


def test_a_pipeline_that_is_gone_fails_the_plan_with_what_to_do(world: World) -> None:
    run = uploaded(world, 1)
    del world.objects.versions[layout.pipeline("tone")]
    with pytest.raises(PipelineUnknown, match="relay pipelines apply"):
        ask(world, run, "plan")


def test_an_ended_run_is_not_planned_again(world: World) -> None:
    run = world.start_run()
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    with pytest.raises(RunNotOpen, match="relay retry"):
        ask(world, run, "plan")


def test_a_run_that_was_cut_short_while_planning_keeps_its_drops(world: World) -> None:
    """Else the next run would plan those that were not marked yet, too."""
    run = uploaded(world, 5)
    world.faults.arm(3, "after")
    with pytest.raises(Crash):
        ask(world, run, "plan")
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    assert {drop.id for drop in plan_of(world, run).drops} == {
        item["id"]
        for (_, sk), item in world.table.items.items()
        if sk == "DROP" and item.get("run") == run
    }
    assert len(world.runs("tone")) == 1


def test_a_plan_that_comes_after_its_run_was_closed_takes_no_drop(world: World) -> None:
    """A slow planner must not take what the next run has planned, nor what still waits."""
    run = uploaded(world, 3)
    put_if_absent = world.objects.put_if_absent

    def slow(key: str, body: bytes) -> bool:
        world.objects.put_if_absent = put_if_absent  # type: ignore[method-assign]
        world.graph.abort(run)
        close_run(run, world.executions.describe(run), world.plane)
        return put_if_absent(key, body)

    world.objects.put_if_absent = slow  # type: ignore[method-assign]
    with pytest.raises(RunNotOpen):
        ask(world, run, "plan")
    second = world.runs("tone")[-1].run
    assert second != run
    assert ask(world, second, "plan")["drops"] == 3
    world.end_run(second)
    third = retry_run(run, world.plane)
    assert ask(world, third, "plan")["outcome"] == "nothing_waiting"
