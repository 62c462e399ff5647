"""Files of a set that no seal can take any more: overwritten or deleted before one came."""

from __future__ import annotations

from contracts.ledger import SetObject
from contracts.names import drop_id
from lambdas.control_plane import ControlPlane
from lambdas.logic.refuse import report_refusal
from lambdas.logic.side_by_side import side_by_side
from lambdas.logic.survey_set import newest_shards
from lambdas.logic.upload_key import Refusal

SETTLED_AT_ONCE = 200
"""Reports of one call, which is one of many in a turn; what is over waits for sweep's next look."""
GONE = Refusal(
    "the file was overwritten or deleted before a seal took it",
    "nothing is to be done if that was meant: the newest version is taken with the next seal",
)


def settle_set(pipeline: str, folder: str, plane: ControlPlane) -> bool:
    """Refuse, in writing, what waits in a folder and is no newest version there.

    The order matters. What waits is read before the folder is listed, so that a file that comes
    meanwhile is not missed in the list, and taken for gone. It is read once more at the end: a
    plan that was made before the listing may name a version that is no longer the newest; but
    then its run holds the lease, and either has not yet marked its drops, so that nothing is
    settled now, or has, so that the version waits no more.

    Returns:
        Whether all of that is settled, as far as it can be seen: of a folder with too much in it
        nothing is, until a seal is refused for that.
    """
    before = {one.id for one in waiting_in(pipeline, folder, plane)}
    there = newest_shards(pipeline, folder, plane) if before else []
    if is_planning(pipeline, plane):
        return False
    if there is None:
        return True
    newest = {drop_id(plane.objects.bucket, one.key, one.version_id) for one in there}

    def refuse(found: SetObject) -> None:
        report_refusal(found.key, found.version_id, GONE, plane)
        settled = found.model_copy(update={"status": "rejected", "reason": GONE.reason})
        plane.ledger.sets.mark(pipeline, folder, settled)

    over = before - newest
    gone = [one for one in waiting_in(pipeline, folder, plane) if one.id in over]
    side_by_side(refuse, gone[:SETTLED_AT_ONCE], plane.at_once)
    return len(gone) <= SETTLED_AT_ONCE


def is_planning(pipeline: str, plane: ControlPlane) -> bool:
    """Whether a run may be between its plan and the last mark of it."""
    lease = plane.ledger.runs.lease(pipeline)
    run = None if lease is None else plane.ledger.runs.get(lease.run)
    return run is not None and not run.drops


def waiting_in(pipeline: str, folder: str, plane: ControlPlane) -> list[SetObject]:
    """What waits in a folder for its seal."""
    known = plane.ledger.sets.objects(pipeline, folder)
    return [found for found in known.values() if found.status == "unsealed"]
