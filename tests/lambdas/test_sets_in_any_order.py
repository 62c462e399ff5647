"""Files, seals, overwrites, deletions in any order, with crashes: no version is lost or twice."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from fakes import sets
from fakes.faults import Crash
from fakes.invariants import Invariants, ledger_without_cursors
from fakes.recipes import pipeline
from fakes.world import World, using
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contracts import layout
from lambdas.logic.reconcile_set import MISSING

FOLDERS = st.sampled_from(["a", "b"])
NAMES = st.sampled_from(["x.jsonl", "y.jsonl", "deep/z.jsonl"])
WHEN = st.sampled_from(["before", "after"])
LIMIT_S = 600


class Sets(RuleBasedStateMachine):
    """Teams fill two folders; events come late, twice, in any order; functions crash."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.stack = ExitStack()
        self.stack.enter_context(using(self.world.plane))
        recipe = pipeline("tone")
        rules = recipe.data.model_copy(update={"seal_limit_s": LIMIT_S})
        self.world.register(recipe.model_copy(update={"data": rules}))
        self.demands = Invariants(self.world, 3)
        self.shards: list[sets.Version] = []
        self.seals: list[sets.Version] = []
        self.plans: set[str] = set()

    # Teams

    @rule(folder=FOLDERS, name=NAMES)
    def put(self, folder: str, name: str) -> None:
        key = layout.set_folder("tone", folder) + name
        self.shards.append((key, self.world.upload(key)))

    @rule(folder=FOLDERS, names=st.lists(NAMES, unique=True))
    def put_a_whole_set(self, folder: str, names: list[str]) -> None:
        for name in names:
            self.put(folder, name)
        self.seal(folder)

    @rule(folder=FOLDERS)
    def seal(self, folder: str) -> None:
        key = layout.seal("tone", folder)
        self.seals.append((key, self.world.upload(key, b"")))

    @rule(folder=FOLDERS, name=st.sampled_from(["_committed", ".x.crc", "_temporary/0/x.jsonl"]))
    def put_what_nobody_reads(self, folder: str, name: str) -> None:
        self.world.upload(layout.set_folder("tone", folder) + name)

    @rule(folder=FOLDERS, name=NAMES)
    def delete(self, folder: str, name: str) -> None:
        self.world.objects.delete(layout.set_folder("tone", folder) + name)

    # Queues: at least once, in any order, with crashes

    @precondition(lambda self: self.world.mail)
    @rule(data=st.data(), again=st.booleans(), crash=st.integers(0, 6), when=WHEN)
    def deliver(self, data: st.DataObject, again: bool, crash: int, when: Any) -> None:
        place = data.draw(st.integers(0, len(self.world.mail) - 1))
        queue, body = self.world.mail.pop(place)
        self._arm(crash, when)
        took = self.world.hand_over(queue, body)
        self.world.faults.disarm()
        if again or not took:
            self.world.mail.append((queue, body))

    @rule()
    def deliver_all(self) -> None:
        self.world.deliver_all()

    @precondition(lambda self: self.world.told)
    @rule(data=st.data())
    def deliver_an_old_message_again(self, data: st.DataObject) -> None:
        self.world.hand_over(*data.draw(st.sampled_from(self.world.told)))

    # Runs, time, sweep

    @precondition(lambda self: self.world.graph.running())
    @rule(crash=st.integers(0, 12), when=WHEN)
    def plan(self, crash: int, when: Any) -> None:
        before = self._free()
        self._arm(crash, when)
        for run in self.world.graph.running():
            self.world.graph.step(run)
        self.world.faults.disarm()
        self._a_new_plan_has_all_of(before)

    @precondition(lambda self: self.world.graph.running())
    @rule()
    def runs_end(self) -> None:
        for run in self.world.graph.running():
            self.world.graph.abort(run)
        self.world.tell_ends()

    @rule(seconds=st.sampled_from([5, 61, 130, 700]))
    def time_passes(self, seconds: int) -> None:
        self.world.clock.advance(seconds)

    @rule(crash=st.integers(0, 8), when=WHEN)
    def sweep(self, crash: int, when: Any) -> None:
        self._arm(crash, when)
        try:
            self.world.sweep()
        except Crash:
            pass
        finally:
            self.world.faults.disarm()

    # What holds

    @invariant()
    def no_version_is_taken_twice_and_nothing_settled_changes(self) -> None:
        self.demands.hold()
        sets.taken(self.world)

    def teardown(self) -> None:
        try:
            self._come_to_rest()
            self._nothing_vanished()
            before = ledger_without_cursors(self.world)
            for queue, body in list(self.world.told):
                assert self.world.hand_over(queue, body)
            assert ledger_without_cursors(self.world) == before, "I5: a replay changed the ledger"
        finally:
            self.stack.close()

    def _free(self) -> dict[str, set[sets.Version]]:
        """By folder, what a seal would take now."""
        settled = set(sets.taken(self.world)) | {
            version for version, it in sets.known(self.world).items() if it.status == "rejected"
        }
        return {folder: sets.newest_in(self.world, folder) - settled for folder in ("a", "b")}

    def _a_new_plan_has_all_of(self, free: dict[str, set[sets.Version]]) -> None:
        for plan in sets.owned_plans(self.world):
            if plan.run in self.plans:
                continue
            self.plans.add(plan.run)
            found: dict[str, set[sets.Version]] = {}
            for drop in plan.drops:
                folder = drop.key.split("/")[2]
                objects = {(one.key, one.version_id) for one in drop.objects or ()}
                found.setdefault(folder, set()).update(objects)
            for folder, objects in found.items():
                assert objects == free[folder], f"{plan.run} took a part of {folder}"

    def _come_to_rest(self) -> None:
        """Faults stop, all is delivered, every run ends, and the limit for seals passes."""
        self.world.faults.disarm()
        for turn in range(40):
            self.world.deliver_all()
            for run in self.world.graph.running():
                self.world.graph.step(run)
                if turn % 2 and run in self.world.graph.running():
                    self.world.graph.abort(run)
            self.world.tell_ends()
            self.world.clock.advance(130)
            assert self.world.sweep()["failed"] == 0
        assert not self.world.mail
        assert not self.world.graph.running()

    def _nothing_vanished(self) -> None:
        owners, known = sets.taken(self.world), sets.known(self.world)
        for version in self.shards:
            one = known[version]
            assert (one.status == "planned") == (version in owners), f"I2: {one}"
            if one.status == "planned":
                assert one.run == owners[version]
            elif one.status == "rejected":
                assert sets.report_on(self.world, *version) is not None
            else:
                # Deleted or not since: its uploader was told that it waits.
                folder = one.key.split("/")[2]
                assert sets.report_on(self.world, layout.seal("tone", folder), MISSING)
        for key, version in self.seals:
            drop = self.world.drop(key, version)
            assert drop is not None
            assert drop.status in {"planned", "rejected"}
            if drop.status == "rejected":
                assert sets.report_on(self.world, key, version) is not None

    def _arm(self, crash: int, when: Any) -> None:
        if crash:
            self.world.faults.arm(crash, when)


def test_every_version_is_in_one_run_or_refused_and_sealed_sets_are_planned_whole() -> None:
    long = settings.get_current_profile_name() == "long"
    run_state_machine_as_test(
        Sets, settings=settings(max_examples=2_000 if long else 150, stateful_step_count=30)
    )
