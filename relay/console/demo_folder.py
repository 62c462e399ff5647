"""The folder that the demonstration empties each time: only ever one that it made itself."""

from __future__ import annotations

import shutil
from pathlib import Path

from relay.console.errors import Conflict

MARKER = "made-by-relay-demo"
"""A file of this name says that all beside it may be deleted."""


def claim(stack: Path) -> None:
    """Make the folder, or make sure that it is the demonstration's; nothing is deleted.

    Raises:
        Conflict: something else is there, or a link to something else.
    """
    if stack.is_symlink():
        raise Conflict(f"{stack} is a link: it is not followed; choose another --folder")
    if stack.exists() and not _ours(stack):
        raise Conflict(
            f"{stack} was not made by `relay demo`, so it is not emptied: "
            "move it away, or choose another --folder"
        )
    stack.mkdir(parents=True, exist_ok=True)
    (stack / MARKER).touch()


def empty(stack: Path) -> None:
    """Delete all in a claimed folder but the marker; links go, not what they point to."""
    for one in stack.iterdir():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one, ignore_errors=True)
        elif one.name != MARKER:
            one.unlink(missing_ok=True)


def _ours(stack: Path) -> bool:
    if not stack.is_dir():
        return False
    marker = stack / MARKER
    marked = marker.is_file() and not marker.is_symlink()
    return marked or not any(stack.iterdir())
