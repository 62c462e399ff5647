"""An execution's end, as EventBridge tells it; what Step Functions shows is what counts."""

from __future__ import annotations

from typing import Literal

from contracts.errors import ServiceUnavailable
from lambdas.control_plane import ControlPlane
from lambdas.logic.close_run import close_run


def hear_end(run: str, plane: ControlPlane) -> Literal["closed", "unknown"]:
    """Close the run whose execution ended.

    Raises:
        ServiceUnavailable: the end is not to be seen yet; the message comes again.
    """
    if plane.ledger.runs.get(run) is None:
        return "unknown"
    state = plane.executions.describe(run)
    if state is None or state.status == "RUNNING":
        raise ServiceUnavailable(f"run {run} ended, but its execution is not shown as ended yet")
    close_run(run, state, plane)
    return "closed"
