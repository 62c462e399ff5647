"""Work that takes longer than a call goes on in the next, from where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fakes import events, sets
from fakes.context import FakeContext
from fakes.recipes import pipeline
from fakes.sets import end, plan_of, put, seal
from fakes.world import World

import lambdas.intake.handler
from contracts.errors import ServiceUnavailable
from lambdas.batch import LONGEST_S
from lambdas.ledger.drops import Drops
from lambdas.ledger.sets import Sets
from lambdas.logic import mark_drops
from lambdas.time_left import TimeLeft

CALL_S = 300.0


def slowed(world: World, work: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """The same, taking so long."""

    def slow(*args: Any, **kwargs: Any) -> Any:
        world.clock.advance(seconds)
        return work(*args, **kwargs)

    return slow


def test_time_is_over_when_it_is_and_a_part_of_it_before(world: World) -> None:
    left = TimeLeft.of_call(FakeContext(100), world.clock, reserve_s=10)  # type: ignore[arg-type]
    part = left.part(1 / 3)
    world.clock.advance(29)
    assert not part.is_over
    world.clock.advance(2)
    assert part.is_over
    assert not left.is_over
    left.demand("it")
    world.clock.advance(60)
    with pytest.raises(ServiceUnavailable, match="it: not done within one call"):
        left.demand("it")


def test_of_many_slow_folders_a_run_takes_what_there_is_time_for_and_the_next_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [f"day {number:02}" for number in range(20)]
    for folder in folders:
        put(world, "a.jsonl", folder=folder)
        seal(world, folder)
    listing = slowed(world, world.objects.list_versions, CALL_S / 15)
    monkeypatch.setattr(world.objects, "list_versions", listing)
    taken: list[str] = []
    for _ in range(len(folders)):
        asked_at = world.clock.now()
        drops = plan_of(world).drops
        assert drops
        assert (world.clock.now() - asked_at).total_seconds() < CALL_S
        taken += [drop.key.split("/")[2] for drop in drops]
        if len(taken) == len(folders):
            break
        end(world)
    assert 1 < len(world.runs("tone")) < len(folders)
    assert taken == folders
    assert len(sets.taken(world)) == len(folders)


def test_marking_goes_on_with_the_drop_at_which_the_call_before_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        world.upload(f"incoming/tone/{number:02}.jsonl")
    world.deliver_all()
    marked: list[str] = []
    mark = slowed(world, Drops.mark_planned, CALL_S / 5)

    def counted(self: Drops, drop: Any, run: str) -> bool:
        marked.append(drop.key)
        done: bool = mark(self, drop, run)
        return done

    monkeypatch.setattr(Drops, "mark_planned", counted)
    run = world.runs("tone")[0].run
    for _ in range(3):
        world.graph.step(run)
    assert world.graph.walks[run].at == "collect"
    assert len(marked) == len(set(marked)) == 12
    assert world.runs("tone")[0].drops == 12


def test_the_files_of_one_large_set_are_marked_in_as_many_calls_as_it_takes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark_drops, "CHUNK", 2)
    put(world, *[f"{number}.jsonl" for number in range(12)])
    seal(world)
    mark = slowed(world, Sets.mark, CALL_S / 5)
    monkeypatch.setattr(Sets, "mark", mark)
    run = world.runs("tone")[0].run
    for _ in range(3):
        world.graph.step(run)
    assert world.graph.walks[run].at == "collect"
    assert {it.run for it in sets.known(world).values()} == {run}


def test_a_run_of_many_sets_that_was_cut_short_is_closed_bit_by_bit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look again at every set that is marked would take all of each call's time."""
    folders = [f"day {number}" for number in range(8)]
    for folder in folders:
        put(world, "a.jsonl", folder=folder)
        seal(world, folder)
    run = world.runs("tone")[0].run
    world.faults.arm(2, "after")  # the plan is put, and the first of its seals marked
    world.graph.step(run)
    world.faults.disarm()
    objects = slowed(world, Sets.objects, 4)
    monkeypatch.setattr(Sets, "objects", objects)
    world.executions.end(run, "ABORTED")
    turns = 0
    while world.ledger.runs.lease("tone") and turns < len(folders):
        world.sweep()
        turns += 1
    assert turns < len(folders)
    assert set(sets.taken(world).values()) == {run}
    assert len(sets.taken(world)) == len(folders)
    assert {it.run for it in sets.known(world).values()} == {run}


def test_no_message_is_begun_that_the_call_may_have_no_time_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that is cut off would give back what was done as well."""
    world.register(pipeline("tone"))
    keys = [f"incoming/tone/{number}.jsonl" for number in range(3)]
    bodies = [
        events.created(world.objects.bucket, key, world.objects.add(key, b"{}"), 2) for key in keys
    ]
    world.mail = []
    short: Any = FakeContext(LONGEST_S - 1)
    answer = lambdas.intake.handler.handler(events.batch(*bodies), short)
    assert events.failed_in(answer) == ["m0", "m1", "m2"]
    assert world.runs("tone") == []
    enough: Any = FakeContext(LONGEST_S + 5)
    assert events.failed_in(lambdas.intake.handler.handler(events.batch(*bodies), enough)) == []
    assert len(world.runs("tone")) == 1
