"""A file of a set: it waits for its folder's seal, and collect is the first to read it."""

from __future__ import annotations

from typing import Literal

from contracts.ledger import SetObject, Unsealed
from contracts.names import drop_id
from contracts.pipeline import DataRules
from lambdas.control_plane import ControlPlane
from lambdas.logic.notification import ObjectCreated
from lambdas.logic.upload_key import UploadKey


def accept_shard(
    created: ObjectCreated, upload: UploadKey, rules: DataRules, plane: ControlPlane
) -> Literal["unsealed", "known"]:
    """Record a file that waits for its seal; repeating it changes nothing.

    A run may have taken the file before its event came: then there is nothing to record. The
    file is recorded first and the folder noted second, as sweep forgets a folder first and
    looks into it second: whoever comes last sees the other.
    """
    identity = drop_id(*created[:3])
    found = plane.ledger.sets.object(upload.pipeline, upload.folder, identity)
    new = False
    if found is None:
        found = SetObject(
            id=identity,
            key=created.key,
            version_id=created.version_id,
            size=created.size,
            status="unsealed",
            accepted_at=plane.clock.now(),
        )
        new = plane.ledger.sets.record_unsealed(upload.pipeline, upload.folder, found)
    if new or found.status == "unsealed":
        note_unsealed(upload.pipeline, upload.folder, found, rules.seal_limit_s, plane)
    return "unsealed" if new else "known"


def note_unsealed(
    pipeline: str, folder: str, found: SetObject, seal_limit_s: int, plane: ControlPlane
) -> None:
    """Have sweep look after the folder in which a file waits."""
    plane.ledger.sets.note_arrival(
        Unsealed(
            pipeline=pipeline,
            folder=folder,
            arrived_at=found.accepted_at,
            seal_limit_s=seal_limit_s,
        )
    )
