"""Marking goes on where it stopped: a plan's drops, one after the other, in as many calls."""

from __future__ import annotations

from collections.abc import Callable

from contracts import layout
from contracts.errors import RunNotOpen, ServiceUnavailable
from contracts.ledger import RunRecord
from contracts.plan import Plan, PlannedDrop
from lambdas.control_plane import ControlPlane
from lambdas.logic.mark_drops import mark_drop
from lambdas.logic.read_plan import PLAN_BYTES_MAX
from lambdas.time_left import TimeLeft

MARKING_S = 6.0
"""How long the end of a run goes on marking: a part of what `report` has for all of a batch."""


def mark_plan(plan: Plan, record: RunRecord, plane: ControlPlane, left: TimeLeft) -> None:
    """Make every drop of a plan its run's.

    Raises:
        RunNotOpen: the run lost its lease before a drop was marked.
        ServiceUnavailable: there is more than the time left is enough for.
    """

    def mark(drop: PlannedDrop) -> None:
        if not mark_drop(drop, record, plane, left):
            raise RunNotOpen(f"run {record.run} lost its lease before {drop.key} was marked as its")

    _go_on(plan, record, plane, left, mark)


def finish_marking(record: RunRecord, plane: ControlPlane) -> None:
    """Mark what a run had planned when it was cut short: its drops stay with it.

    Raises:
        ServiceUnavailable: there is more than one call has time for; the next goes on.
    """
    if record.drops:
        return
    stored = plane.objects.get(layout.plan(record.run), limit=PLAN_BYTES_MAX)
    if stored is None:
        return
    plan = Plan.from_bytes(stored, where=layout.plan(record.run))
    if plan.retry_of is not None:
        return
    left = TimeLeft.of(plane.clock, MARKING_S)

    def mark(drop: PlannedDrop) -> None:
        mark_drop(drop, record, plane, left)

    _go_on(plan, record, plane, left, mark)
    plane.ledger.runs.note_marked(record.run, len(plan.drops))


def _go_on(
    plan: Plan,
    record: RunRecord,
    plane: ControlPlane,
    left: TimeLeft,
    mark: Callable[[PlannedDrop], None],
) -> None:
    """Mark from the first drop on that is not known to be marked, and note how far that came."""
    marked = record.marked
    try:
        for drop in plan.drops[marked:]:
            mark(drop)
            marked += 1
            if marked < len(plan.drops):
                left.demand(f"marking the drops of run {record.run}")
    except ServiceUnavailable:
        plane.ledger.runs.note_marked(record.run, marked)
        raise
