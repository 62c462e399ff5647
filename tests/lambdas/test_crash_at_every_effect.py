"""A function dies right after any one of its effects, and the line comes out the same."""

from __future__ import annotations

import pytest
from fakes.invariants import Invariants, accepted_or_refused, ledger_without_cursors
from fakes.recipes import pipeline
from fakes.world import World, using

TURNS = 64


class Line:
    """A good and a bad drop, then another while the first is trained; one crash."""

    def __init__(self) -> None:
        self.world = World()
        self.world.register(
            pipeline("tone", rounds=2, heartbeat_s=120, timeout_s=1800, start_limit_s=600)
        )
        self.invariants = Invariants(self.world, attempts=3)
        self.uploads: dict[tuple[str, str], str] = {}

    def upload(self, name: str, body: bytes) -> None:
        key = f"incoming/tone/{name}"
        self.uploads[(key, self.world.upload(key, body))] = "tone"

    def run(self, *, cancels: bool, deaf: bool) -> None:
        """Let everyone work.

        Args:
            cancels: whether an operator stops what runs right after the crash.
            deaf: whether every report and every word of an end from then on is lost.
        """
        world = self.world
        self.upload("good.jsonl", b'{"a": 1}\n')
        self.upload("bad.jsonl", b"no json")
        for turn in range(TURNS):
            world.move_on(finishes=turn % 3 == 0)
            if turn == TURNS // 2:
                self.upload("late.jsonl", b'{"a": 2}\n')
            if world.faults.crashed:
                self._after_the_crash(cancels=cancels, deaf=deaf)
                cancels = False
            self.invariants.hold()

    def _after_the_crash(self, *, cancels: bool, deaf: bool) -> None:
        world = self.world
        for run in world.graph.running() if cancels else ():
            world.graph.abort(run)
        world.tell_ends()
        if deaf:
            world.mail = [item for item in world.mail if item[0] == "uploads"]

    def end(self) -> None:
        """Come to rest; then hear everything again."""
        world = self.world
        world.come_to_rest()
        self.invariants.hold_at_rest()
        accepted_or_refused(world, self.uploads)
        before = ledger_without_cursors(world)
        for queue, body in list(world.told):
            assert world.hand_over(queue, body)
        assert ledger_without_cursors(world) == before


def effects() -> int:
    """How many effects the line has when nothing goes wrong."""
    line = Line()
    with using(line.world.plane):
        line.run(cancels=False, deaf=False)
        count = line.world.faults.calls
        line.end()
    runs = [item for (_, sk), item in line.world.table.items.items() if sk == "RUN"]
    assert [run["status"] for run in runs] == ["PUBLISHED", "PUBLISHED"]
    return count


@pytest.mark.parametrize(
    ("cancels", "deaf"),
    [(False, False), (True, False), (False, True), (True, True)],
    ids=["goes on", "is cancelled", "goes on unheard", "is cancelled unheard"],
)
def test_a_crash_after_any_effect_loses_nothing_and_does_nothing_twice(
    cancels: bool, deaf: bool
) -> None:
    for crash_at in range(1, effects() + 1):
        line = Line()
        line.world.faults.arm(crash_at, "after")
        with using(line.world.plane):
            line.run(cancels=cancels, deaf=deaf)
            assert line.world.faults.crashed, f"no crash at effect {crash_at}"
            line.end()
