"""Whose turn it is, and what its run was planned to be."""

from __future__ import annotations

from contracts import layout
from contracts.errors import RunNotOpen
from contracts.ledger import RunRecord
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.plan import Plan
from lambdas.control_plane import ControlPlane

PLAN_BYTES_MAX = 64 * STATUS_OBJECT_BYTES_MAX


def open_run(run: str, plane: ControlPlane) -> RunRecord:
    """The run, if it is alive and holds its pipeline's lease.

    Raises:
        RunNotOpen: it is not; so a redriven execution ends at its first step.
    """
    record = plane.ledger.runs.get(run)
    if record is None:
        raise RunNotOpen(f"the ledger knows no run {run}")
    lease = plane.ledger.runs.lease(record.pipeline)
    if record.ended_at is not None or lease is None or lease.run != run:
        raise RunNotOpen(
            f"run {run} has ended ({record.status}) and cannot be redriven; "
            f"use `relay retry {run}`: it takes the same drops and goes on from the last handoff"
        )
    return record


def read_plan(run: str, plane: ControlPlane) -> Plan:
    """The run's plan.

    Raises:
        RunNotOpen: it was never planned.
    """
    key = layout.plan(run)
    stored = plane.objects.get(key, limit=PLAN_BYTES_MAX)
    if stored is None:
        raise RunNotOpen(f"run {run} has no plan at {key}")
    return Plan.from_bytes(stored, where=key)
