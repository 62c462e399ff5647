"""Runs that are open on the local stack, as far as it can still tell."""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError

from contracts.ledger import RunRecord
from relay.console.control_plane import ControlPlane, connect
from relay.console.errors import ToolError
from relay.console.locating import Location
from relay.local import emulator_process
from relay.local.errors import LocalStackError
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of


def open_runs(places: LocalPlaces, stack: str) -> list[RunRecord]:
    """The runs that have their pipeline's turn; none where nothing answers."""
    try:
        if not places.ports.exists() or not _answers(places):
            return []
        return _holders(connect(Location(stack, None, places.root, "the local stack")))
    except (BotoCoreError, ClientError, ToolError, LocalStackError):
        # It may be half deployed, damaged or dying, and whoever asks is about to end it.
        return []


def _answers(places: LocalPlaces) -> bool:
    return emulator_process.answers(places, ports_of(places).emulator)


def _holders(plane: ControlPlane) -> list[RunRecord]:
    runs = plane.logic.ledger.runs
    leases = [runs.lease(name) for name in sorted(plane.pipelines_seen())]
    found = [runs.get(lease.run) for lease in leases if lease]
    return [run for run in found if run is not None]
