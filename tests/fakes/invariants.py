"""The design's invariants, checked on everything there is."""

from __future__ import annotations

from collections import Counter
from typing import Any

from contracts import layout
from contracts.ledger import ATTEMPT_ENDED, RUN_ENDED
from contracts.plan import Plan
from fakes.world import World

_ENDED = {
    "RUN": RUN_ENDED,
    "ATTEMPT": ATTEMPT_ENDED,
    "DROP": frozenset({"planned", "rejected"}),
    "OBJECT": frozenset({"planned", "rejected"}),
}


class Invariants:
    """Remembers what was terminal, and looks at the world step by step."""

    def __init__(self, world: World, attempts: int) -> None:
        self._world = world
        self._attempts = attempts
        self._terminal: dict[tuple[str, str], dict[str, Any]] = {}

    def hold(self) -> None:
        """What holds at every moment."""
        self._one_live_job_a_phase()
        self._submissions_are_bounded()
        self._terminal_states_stay()
        self._a_living_run_has_the_lease()
        self._nothing_is_in_two_runs()
        self._sweep_knows_of_whatever_waits()

    def hold_at_rest(self) -> None:
        """What holds once everything is quiet."""
        world = self._world
        self.hold()
        left = [key for key in world.table.items if key[1] == "LEASE" or key[0] == "JOBS"]
        assert not left, "no lease and no job may be left"
        assert not world.agent.jobs, "no process may be left"
        assert not world.graph.running()
        for key, item in world.table.items.items():
            kind = key[1].partition("#")[0]
            assert kind != "WAITING", f"{key} still waits"
            if key[0].startswith(("RUN#", "DROP#")):
                assert item["status"] in _ENDED[kind], f"{key} is {item['status']}"
        self._every_drop_is_in_one_run()

    def _one_live_job_a_phase(self) -> None:
        live = Counter(key[:3] for key in self._world.agent.jobs)
        assert not [phase for phase, jobs in live.items() if jobs > 1], f"I1: {live}"
        started = Counter(self._world.agent.started)
        assert not [key for key, times in started.items() if times > 1], f"I1: {started}"

    def _submissions_are_bounded(self) -> None:
        jobs = (key for key in self._world.objects.versions if key.endswith("/job.json"))
        phases = Counter(key.rsplit("-", 1)[0] for key in jobs)
        assert all(count <= self._attempts for count in phases.values()), f"I7: {phases}"

    def _terminal_states_stay(self) -> None:
        for key, before in self._terminal.items():
            now = self._world.table.items.get(key)
            assert now is not None, f"I4: {key} vanished"
            assert now["status"] == before["status"], f"I4: {key}: {before} became {now}"
            assert now.get("run") == before.get("run"), f"I4: {key}: {before} became {now}"
        for key, item in self._world.table.items.items():
            kind = key[1].partition("#")[0]
            if kind in _ENDED and item.get("status") in _ENDED[kind]:
                self._terminal.setdefault(key, dict(item))

    def _a_living_run_has_the_lease(self) -> None:
        for (pk, sk), item in self._world.table.items.items():
            if sk == "RUN" and item["status"] not in RUN_ENDED:
                lease = self._world.table.items.get((f"PIPELINE#{item['pipeline']}", "LEASE"))
                assert lease is not None, f"{pk} lives without a lease"
                assert lease["run"] == item["run"], f"{pk} lives without the lease"

    def _sweep_knows_of_whatever_waits(self) -> None:
        for pk, sk in self._world.table.items:
            if sk.startswith("WAITING#"):
                name = pk.removeprefix("PIPELINE#")
                assert ("PIPELINES", name) in self._world.table.items, f"{name} is not noted"

    def _nothing_is_in_two_runs(self) -> None:
        """A plan speaks for a drop only if the ledger agrees, once the plan was answered."""
        owners: dict[str, str] = {}
        for plan in self._plans():
            record = self._world.table.items[(f"RUN#{plan.run}", "RUN")]
            if plan.retry_of is not None or not record["drops"]:
                continue
            for drop in plan.drops:
                assert owners.setdefault(drop.id, plan.run) == plan.run, f"I2: {drop} in two runs"

    def _every_drop_is_in_one_run(self) -> None:
        known: dict[str, str] = {}
        for (pk, sk), item in self._world.table.items.items():
            if sk == "DROP" and item["status"] == "planned":
                known[item["id"]] = item["run"]
                assert pk == f"DROP#{item['id']}"
        planned = {plan.run: {drop.id for drop in plan.drops} for plan in self._plans()}
        for drop, run in known.items():
            assert drop in planned[run], f"I2: {drop} is not in the plan of {run}"

    def _plans(self) -> list[Plan]:
        found = []
        for key, versions in self._world.objects.versions.items():
            if key.endswith("/plan.json"):
                assert len(versions) == 1, f"{key} was put twice"
                found.append(Plan.from_bytes(versions[-1][1], where=key))
        return found


def ledger_without_cursors(world: World) -> dict[tuple[str, str], dict[str, Any]]:
    """The ledger, but for sweep's places in it."""
    return {key: dict(item) for key, item in world.table.items.items() if key[0] != "SWEEP"}


def accepted_or_refused(world: World, uploads: dict[tuple[str, str], str]) -> None:
    """Every upload is in the ledger, and a refused one has its report."""
    known = {
        (item["key"], item["version_id"]): item
        for (_, sk), item in world.table.items.items()
        if sk == "DROP"
    }
    for (key, version), pipeline in uploads.items():
        assert (key, version) in known, f"I2: {key}@{version} vanished"
        if known[(key, version)]["status"] == "rejected":
            rest = key.removeprefix(f"{layout.INCOMING}{pipeline}/")
            assert world.objects.head(layout.rejection(pipeline, rest, version)) is not None
