"""From a plan to the ledger: every drop of it, and every object of its sets, is the run's."""

from __future__ import annotations

from contracts.ledger import DropRecord, SetObject
from contracts.names import drop_id
from contracts.plan import PlannedDrop, PlannedObject
from lambdas.control_plane import ControlPlane
from lambdas.logic.plan_drops import folder_of
from lambdas.logic.side_by_side import side_by_side


def mark_drop(drop: PlannedDrop, pipeline: str, run: str, plane: ControlPlane) -> bool:
    """Make a drop the run's, as far as that is not done; whether it is.

    The seal of a set goes first, while the run holds the lease; whose its objects are follows
    from it, so they are marked without regard to the lease.
    """
    named = drop.model_dump(exclude={"objects"})
    waiting = DropRecord(pipeline=pipeline, status="waiting", **named)
    if not plane.ledger.drops.mark_planned(waiting, run):
        marked = plane.ledger.drops.get(drop.id)
        if marked is None or marked.run != run:
            return False
    if drop.objects:
        _mark_objects(drop, drop.objects, pipeline, run, plane)
    return True


def _mark_objects(
    drop: PlannedDrop,
    objects: tuple[PlannedObject, ...],
    pipeline: str,
    run: str,
    plane: ControlPlane,
) -> None:
    folder = folder_of(drop.key)
    known = plane.ledger.sets.objects(pipeline, folder)

    def mark(one: SetObject) -> None:
        plane.ledger.sets.mark(pipeline, folder, one)

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
                    run=run,
                    accepted_at=at,
                    **stored.model_dump(),
                )
            )
    side_by_side(mark, left, plane.at_once)
