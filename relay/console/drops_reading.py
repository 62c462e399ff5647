"""What waits in folders without a seal, and what was refused, as reports in the bucket say."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from heapq import nlargest
from typing import Any

from contracts import layout
from contracts.model import Contract
from contracts.rejection import Rejection
from lambdas.logic.reconcile_set import MISSING, seal_waits, words_on
from lambdas.logic.settle_set import waiting_in
from relay.console.control_plane import ControlPlane

READS_AT_ONCE = 8


class UnsealedFolder(Contract):
    """A folder in which files wait for its seal."""

    folder: str
    files: int
    bytes: int
    arrived_at: datetime
    reason: str
    remedy: str


def unsealed(plane: ControlPlane, pipeline: str, limit: int) -> list[UnsealedFolder]:
    """Folders of a pipeline in which files wait, and whose seal does not wait itself."""
    ledger, found = plane.logic.ledger, []
    for folder in ledger.sets.unsealed_of(pipeline, limit=limit):
        waiting = waiting_in(pipeline, folder.folder, plane.logic)
        if not waiting or seal_waits(folder, plane.logic):
            continue
        sealed = bool(ledger.sets.seals(pipeline, folder.folder))
        reason, remedy = words_on(folder, waiting, sealed=sealed)
        found.append(
            UnsealedFolder(
                folder=layout.set_folder(pipeline, folder.folder),
                files=len(waiting),
                bytes=sum(one.size for one in waiting),
                arrived_at=folder.arrived_at,
                reason=reason,
                remedy=remedy,
            )
        )
    return found


def rejected(plane: ControlPlane, pipeline: str, limit: int) -> list[Rejection]:
    """The newest reports of a pipeline, the newest first; no other is read.

    Reports of a seal that was missing are left out: `unsealed` says how that is now.
    """
    listed = (item for item in _listed(plane, pipeline) if not _is_of_missing_seal(item))
    newest = nlargest(limit, listed, key=lambda item: (item["LastModified"], item["Key"]))
    with ThreadPoolExecutor(READS_AT_ONCE) as pool:
        bodies = list(pool.map(lambda item: plane.get(item["Key"]), newest))
    return [
        Rejection.from_bytes(body, where=item["Key"])
        for item, body in zip(newest, bodies, strict=True)
        if body is not None
    ]


def _listed(plane: ControlPlane, pipeline: str) -> Iterator[dict[str, Any]]:
    """Reports in the pipeline's folder, and those whose keys would be too long for it."""
    yield from plane.keys(f"{layout.REJECTED}{pipeline}/")
    yield from plane.keys(f"{layout.REJECTED}{layout.BY_DIGEST}/{pipeline}/")


def _is_of_missing_seal(item: dict[str, Any]) -> bool:
    return str(item["Key"]).endswith(f"/{layout.SEAL}@{MISSING}.json")
