"""Finding the checkpoint to go on from: pointer, manifest, digests, and back if need be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import ArtifactCorrupt
from training.checkpoints.manifests import hold_to_manifest, read_manifest
from training.checkpoints.pointer import Pointer
from training.checkpoints.series import Place, Series

Refusal = Callable[[Path], str | None]


@dataclass(frozen=True)
class Search:
    """What was found, and what was passed over on the way.

    Attributes:
        found: the newest complete and verified checkpoint; None when there is none.
        skipped: a sentence for each candidate that was not taken, newest first.
        refused: those candidates.
    """

    found: Place | None
    skipped: tuple[str, ...] = ()
    refused: tuple[Place, ...] = ()


def newest_complete(series: Series, *, refuse: Refusal) -> Search:
    """Walk from the newest step of any attempt back to one that verifies.

    A folder that was renamed but not pointed to yet is complete: the rename is the commit. The
    pointer, where it names a candidate, pins that candidate's manifest.

    Args:
        series: the checkpoints.
        refuse: looks into a verified folder and says why it does not fit, if it does not.
    """
    pointer, complaint = Pointer.read(series.root)
    skipped = [complaint] if complaint else []
    refused: list[Place] = []
    for place in series.places():
        reason = _unfit(place, pointer, series.run) or refuse(place.folder)
        if reason is None:
            return Search(place, tuple(skipped), tuple(refused))
        skipped.append(f"skipped {place}: {reason}")
        refused.append(place)
    return Search(None, tuple(skipped), tuple(refused))


def _unfit(place: Place, pointer: Pointer | None, run: str) -> str | None:
    named = pointer is not None and (pointer.attempt, pointer.step) == (place.attempt, place.step)
    try:
        expected = pointer.manifest if named and pointer is not None else None
        manifest = read_manifest(place.folder, expected=expected)
        hold_to_manifest(place.folder, manifest)
    except (ArtifactCorrupt, OSError) as error:
        return str(error)
    if manifest.run != run or manifest.step != place.step or manifest.kind != "checkpoint":
        return f"its manifest is of run {manifest.run}, step {manifest.step}"
    return None
