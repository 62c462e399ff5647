"""From a plan to the ledger: every drop of it, and every object of its sets, is the run's."""

from __future__ import annotations

from contracts.ledger import DropRecord, RunRecord, SetObject
from contracts.names import drop_id
from contracts.plan import PlannedDrop, PlannedObject
from lambdas.control_plane import ControlPlane
from lambdas.logic.plan_drops import folder_of
from lambdas.logic.side_by_side import side_by_side
from lambdas.time_left import TimeLeft

CHUNK = 200
"""Objects that are marked before the time is looked at."""


def mark_drop(drop: PlannedDrop, run: RunRecord, plane: ControlPlane, left: TimeLeft) -> bool:
    """Make a drop the run's, as far as that is not done; whether it is.

    The seal of a set goes first, while the run holds the lease; whose its objects are follows
    from it, so they are marked without regard to the lease.

    Raises:
        ServiceUnavailable: there are more objects than the time left is enough for.
    """
    named = drop.model_dump(exclude={"objects"})
    waiting = DropRecord(pipeline=run.pipeline, status="waiting", **named)
    if not plane.ledger.drops.mark_planned(waiting, run.run):
        marked = plane.ledger.drops.get(drop.id)
        if marked is None or marked.run != run.run:
            return False
    if drop.objects:
        _mark_objects(drop, drop.objects, run, plane, left)
    return True


def _mark_objects(
    drop: PlannedDrop,
    objects: tuple[PlannedObject, ...],
    run: RunRecord,
    plane: ControlPlane,
    left: TimeLeft,
) -> None:
    folder = folder_of(drop.key)

    def mark(one: SetObject) -> None:
        plane.ledger.sets.mark(run.pipeline, folder, one)

    unmarked = _unmarked(drop, objects, run, plane)
    for start in range(0, len(unmarked), CHUNK):
        if start:
            left.demand(f"marking the files of {drop.key}")
        side_by_side(mark, unmarked[start : start + CHUNK], plane.at_once)


def _unmarked(
    drop: PlannedDrop, objects: tuple[PlannedObject, ...], run: RunRecord, plane: ControlPlane
) -> list[SetObject]:
    known = plane.ledger.sets.objects(run.pipeline, folder_of(drop.key))
    left: list[SetObject] = []
    for stored in objects:
        identity = drop_id(plane.objects.bucket, stored.key, stored.version_id)
        found = known.get(identity)
        if found is None or found.status == "unsealed":
            at = found.accepted_at if found else drop.accepted_at
            left.append(
                SetObject(
                    id=identity,
                    status="planned",
                    run=run.run,
                    accepted_at=at,
                    **stored.model_dump(),
                )
            )
    return left
