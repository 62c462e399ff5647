"""Which checkpoints may go."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from contracts.artifact import MANIFEST


def prune(newest_first: Sequence[Path], *, keep: int) -> None:
    """Remove all but the newest `keep` checkpoints.

    A checkpoint loses its manifest first, so that one half removed counts as incomplete.

    Args:
        newest_first: folders of checkpoints; the first was just written and synced.
        keep: how many stay, at least one.
    """
    for folder in newest_first[max(keep, 1) :]:
        (folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
