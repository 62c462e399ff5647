"""Every delivery ends here: if drops wait and nobody has the lease, a run starts."""

from __future__ import annotations

from contracts.ledger import RunRecord
from contracts.names import run_id
from lambdas.control_plane import ControlPlane


def ensure_run(pipeline: str, plane: ControlPlane) -> str | None:
    """Make sure that waiting drops have a run, or will have one.

    Returns:
        The run that holds the lease; None when nothing waits or the pipeline is paused.
    """
    lease = plane.ledger.runs.lease(pipeline)
    if lease is None:
        if not plane.ledger.drops.any_waiting(pipeline):
            return None
        now = plane.clock.now()
        fresh = RunRecord(
            run=run_id(now, plane.clock.suffix()),
            pipeline=pipeline,
            status="STARTING",
            created_at=now,
        )
        plane.ledger.runs.open(fresh)
        lease = plane.ledger.runs.lease(pipeline)
    return None if lease is None else start_execution(lease.run, plane)


def start_execution(run: str, plane: ControlPlane) -> str:
    """Start the execution of a run that was recorded; again if that was cut short."""
    record = plane.ledger.runs.get(run)
    if record is not None and record.status == "STARTING":
        plane.executions.start(record.pipeline, run)
        plane.ledger.runs.mark_open(run)
    return run
