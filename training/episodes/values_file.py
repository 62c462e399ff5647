"""Values that are wanted again one by one, in a file without a name."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """Where a value lies."""

    start: int
    size: int


class ValuesFile:
    """Bytes on disk, given back by their places."""

    def __init__(self, folder: Path | None) -> None:
        """Begin empty.

        Args:
            folder: an existing one, on a disk that has room; None for the system's own.
        """
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `close`
        self._end = 0
        self._waiting = False

    def close(self) -> None:
        """Give the disk its room back."""
        self._file.close()

    def add(self, value: bytes) -> Place:
        """Keep a value.

        Raises:
            OSError: the disk refuses.
        """
        self._file.write(value)
        self._waiting = True
        place = Place(self._end, len(value))
        self._end += len(value)
        return place

    def at(self, place: Place) -> bytes:
        """The value that was kept there."""
        if self._waiting:
            self._file.flush()
            self._waiting = False
        return os.pread(self._file.fileno(), place.size, place.start)
