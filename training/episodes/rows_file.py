"""Records that are wanted again one by one, in a file without a name."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import orjson

from trajectories.shard_rows import Row


class Place(NamedTuple):
    """Where a row lies."""

    start: int
    size: int


class RowsFile:
    """Rows on disk, given back by their places."""

    def __init__(self, folder: Path) -> None:
        """Begin empty.

        Args:
            folder: an existing one, on a disk that has room.
        """
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `close`
        self._end = 0

    def close(self) -> None:
        """Give the disk its room back."""
        self._file.close()

    def add(self, row: Row) -> Place:
        """Keep a row.

        Raises:
            OSError: the disk refuses.
        """
        data = orjson.dumps(row)
        self._file.write(data)
        place = Place(self._end, len(data))
        self._end += len(data)
        return place

    def at(self, place: Place) -> Row:
        """The row that was kept there; `flush` must have come between."""
        row: Row = orjson.loads(os.pread(self._file.fileno(), place.size, place.start))
        return row

    def flush(self) -> None:
        """Let what was added be read."""
        self._file.flush()
