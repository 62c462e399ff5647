"""The learning curve: figures over all lessons of a run, as JSON Lines beside the policy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from contracts.model import canonical_json

FILE = "curve.jsonl"
_POINTS = 200
"""Lines that a lesson writes at most, or nearly."""


class Curve:
    """Lines of one run, round after round; those of other runs are not carried on."""

    def __init__(self, run: str, folder: Path) -> None:
        """Go on from the lines of a folder, if it has any of this run.

        Args:
            run: the run's id.
            folder: a policy or a checkpoint.
        """
        self._run = run
        self._lines = [line for line in _read(folder / FILE) if line.get("run") == run]

    def add(self, place: Mapping[str, object], figures: Mapping[str, float]) -> None:
        """Append a point.

        Args:
            place: where on the curve it is.
            figures: what it shows.
        """
        self._lines.append({"run": self._run, **place, "figures": dict(figures)})

    def write(self, folder: Path) -> None:
        """Write all lines into an existing folder."""
        lines = b"".join(canonical_json(line) + b"\n" for line in self._lines)
        (folder / FILE).write_bytes(lines)


def is_a_point(done: int, size: int) -> bool:
    """Whether the curve has a point after a unit.

    Args:
        done: units done.
        size: of the lesson.
    """
    return done == size or done % max(1, size // _POINTS) == 0


def _read(path: Path) -> list[dict[str, object]]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_bytes().splitlines()]
