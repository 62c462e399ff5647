"""A folder in which files wait: forgotten when none does, told of when its seal does not come."""

from __future__ import annotations

from datetime import timedelta

from contracts import layout
from contracts.counting import counted
from contracts.ledger import SetObject, Unsealed
from contracts.rejection import Rejection
from lambdas.control_plane import ControlPlane
from lambdas.logic.accept_shard import note_unsealed
from lambdas.logic.settle_set import settle_set, waiting_in

MISSING = "missing"
"""Stands for the version of a seal that never came, in the name of the report on it."""


def reconcile_set(folder: Unsealed, plane: ControlPlane) -> None:
    """Look after one folder; see `lambdas.logic.accept_shard` for the order of things."""
    waiting = waiting_in(folder.pipeline, folder.folder, plane)
    if not waiting:
        plane.ledger.sets.forget(folder)
        for found in waiting_in(folder.pipeline, folder.folder, plane)[:1]:
            note_unsealed(folder.pipeline, folder.folder, found, folder.seal_limit_s, plane)
        return
    over = folder.arrived_at + timedelta(seconds=folder.seal_limit_s)
    if folder.told or plane.clock.now() < over or seal_waits(folder, plane):
        return
    if not settle_set(folder.pipeline, folder.folder, plane):
        return
    waiting = waiting_in(folder.pipeline, folder.folder, plane)
    if waiting:
        _tell(folder, waiting, plane)
        plane.ledger.sets.note_told(folder)


def seal_waits(folder: Unsealed, plane: ControlPlane) -> bool:
    """Whether a seal of the folder waits for its run, as it does while a pipeline is paused."""
    found = map(plane.ledger.drops.get, plane.ledger.sets.seals(folder.pipeline, folder.folder))
    return any(drop is not None and drop.status == "waiting" for drop in found)


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
