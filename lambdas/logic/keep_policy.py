"""A run that publishes nothing still ends with its reason."""

from __future__ import annotations

from typing import Literal, NamedTuple

from contracts.decision import EndAnswer
from contracts.ledger import RunStatus
from contracts.result import PhaseOutput
from lambdas.control_plane import ControlPlane
from lambdas.logic.publish_policy import publish_version_zero
from lambdas.logic.read_plan import open_run, read_plan


class Keeping(NamedTuple):
    """Why the current policy is kept."""

    outcome: Literal["kept", "no_data", "nothing_waiting"]
    status: RunStatus
    reason: str


NOTHING_WAITING = Keeping("nothing_waiting", "EMPTY", "no drop was waiting")
NO_DATA = Keeping(
    "no_data",
    "NO_DATA",
    "no record of the drops was usable; the reports under rejected/ say why",
)


def keep_policy(
    run: str, keeping: Keeping, collected: PhaseOutput | None, plane: ControlPlane
) -> EndAnswer:
    """End the run with the current policy kept; repeating it changes nothing."""
    record = plane.ledger.runs.get(run)
    if record is None or record.status != keeping.status:
        open_run(run, plane)
        if keeping.outcome == "kept" and collected is not None:
            publish_version_zero(read_plan(run, plane), collected, plane)
        plane.ledger.runs.end(run, keeping.status, at=plane.clock.now(), reason=keeping.reason)
    return EndAnswer(outcome=keeping.outcome, reason=keeping.reason)
