"""A folder in which files wait: forgotten when none does, told of when its seal does not come.

S3 tells nobody here of a deletion, which only puts a marker on top. So the folder is listed now and
then, and what is no newest version there any more is settled.
"""

from __future__ import annotations

from datetime import timedelta

from contracts import layout
from contracts.counting import counted
from contracts.ledger import SetObject, Unsealed
from contracts.limits import DROPS_PER_RUN_MAX
from contracts.rejection import Rejection
from lambdas.control_plane import ControlPlane
from lambdas.logic.accept_shard import note_unsealed
from lambdas.logic.plan_drops import folder_of
from lambdas.logic.settle_set import settle_set, waiting_in

MISSING = "missing"
"""Stands for the version of a seal that never came, in the name of the report on it."""
LOOK_EVERY = timedelta(minutes=10)
"""A full folder takes twenty requests to list, so it is not done every minute."""


def reconcile_set(folder: Unsealed, plane: ControlPlane) -> None:
    """Look after one folder; see `lambdas.logic.accept_shard` for the order of things."""
    waiting = waiting_in(folder.pipeline, folder.folder, plane)
    if not waiting:
        plane.ledger.sets.forget(folder)
        for found in waiting_in(folder.pipeline, folder.folder, plane)[:1]:
            note_unsealed(folder.pipeline, folder.folder, found, folder.seal_limit_s, plane)
        return
    now = plane.clock.now()
    over = now >= folder.arrived_at + timedelta(seconds=folder.seal_limit_s)
    overdue = over and not folder.told and not seal_waits(folder, plane)
    if not overdue and now < (folder.looked_at or folder.arrived_at) + LOOK_EVERY:
        return
    if not settle_set(folder.pipeline, folder.folder, plane):
        return
    plane.ledger.sets.note_looked(folder, now)
    waiting = waiting_in(folder.pipeline, folder.folder, plane) if overdue else []
    if waiting:
        _tell(folder, waiting, plane)
        plane.ledger.sets.note_told(folder)


def seal_waits(folder: Unsealed, plane: ControlPlane) -> bool:
    """Whether a seal of the folder may wait for its run, as it does while a pipeline is paused.

    It is looked for among what waits, not among all seals that ever came: of those, a folder that
    is sealed every hour has thousands. Behind more than a run takes, one may be.
    """
    waiting = plane.ledger.drops.waiting(folder.pipeline, limit=DROPS_PER_RUN_MAX)
    return len(waiting) == DROPS_PER_RUN_MAX or any(
        folder_of(drop.key) == folder.folder for drop in waiting
    )


def words_on(folder: Unsealed, waiting: list[SetObject], *, sealed: bool) -> tuple[str, str]:
    """Why files wait, and what their uploader can do."""
    place = layout.set_folder(folder.pipeline, folder.folder)
    files = counted(len(waiting), "file waits", "files wait")
    seal = layout.seal(folder.pipeline, folder.folder)
    if sealed:
        why = f"{files} in {place}, put there after its {layout.SEAL} was taken"
        return why, f"put {seal} again: its set is then what is new in the folder"
    why = f"{files} in {place} for its {layout.SEAL}"
    return why, f"put {seal}, empty, once all files are there, or delete the files"


def _tell(folder: Unsealed, waiting: list[SetObject], plane: ControlPlane) -> None:
    sealed = bool(plane.ledger.sets.seals(folder.pipeline, folder.folder))
    why, remedy = words_on(folder, waiting, sealed=sealed)
    report = Rejection(
        bucket=plane.objects.bucket,
        key=layout.seal(folder.pipeline, folder.folder),
        version_id=MISSING,
        refused_by="sweep",
        reason=f"{why}; nothing has come for {folder.seal_limit_s} s",
        remedy=remedy,
        at=plane.clock.now(),
    )
    rest = f"{folder.folder}/{layout.SEAL}"
    plane.objects.put(layout.rejection(folder.pipeline, rest, MISSING), report.to_bytes())
