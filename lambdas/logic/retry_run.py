"""A new run with an ended run's drops, going on from its last good handoff."""

from __future__ import annotations

from contracts.errors import RunNotOpen
from contracts.ledger import RunRecord
from contracts.names import run_id
from lambdas.control_plane import ControlPlane
from lambdas.logic.ensure_run import start_execution


def retry_run(run: str, plane: ControlPlane) -> str:
    """Start the retry of a failed or cancelled run; a paused pipeline does not hinder it.

    Returns:
        The new run's id.

    Raises:
        RunNotOpen: the run is unknown, did not fail, or its pipeline is busy.
    """
    record = plane.ledger.runs.get(run)
    if record is None:
        raise RunNotOpen(f"there is no run {run}; `relay runs` lists those there are")
    if record.status not in {"FAILED", "CANCELLED"}:
        raise RunNotOpen(f"run {run} is {record.status}; only failed or cancelled runs are retried")
    now = plane.clock.now()
    fresh = RunRecord(
        run=run_id(now, plane.clock.suffix()),
        pipeline=record.pipeline,
        status="STARTING",
        created_at=now,
        retry_of=run,
    )
    if not plane.ledger.runs.open(fresh, even_if_paused=True):
        raise RunNotOpen(f"pipeline {record.pipeline} is busy with another run; retry after it")
    return start_execution(fresh.run, plane)
