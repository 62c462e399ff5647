"""Lines filed under digests on disk, to be gone through in the digests' order in bounded memory."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

HELD_BYTES = 16 * 1024**2
"""Of lines that wait to be written; what fits is never written."""
BUCKET_BYTES = 32 * 1024**2
"""Of lines that are read at once; a larger bucket is parted into smaller ones before."""
_DIGITS = 2
"""Of the digest that name a bucket: 256 of them."""
_DIGEST = 64
_OBJECT_BYTES = 64
"""What a line costs beside its bytes while it waits."""
_SKIP_MAX = 8
"""Digits after which a bucket is parted no more: all of it is filed under one digest."""


class Filed(NamedTuple):
    """What is filed under one digest.

    Attributes:
        digest: 64 hexadecimal digits.
        lines: the first so many, in the order in which they were added.
        total: how many all of them are.
    """

    digest: str
    lines: list[bytes]
    total: int


class Buckets:
    """Lines by their digests' first digits.

    Digests spread evenly, so each bucket holds a like part of all lines, whatever they are.
    """

    def __init__(self, folder: Path, *, skip: int = 0) -> None:
        """Begin empty.

        Args:
            folder: for the buckets; made when something is written.
            skip: digits that all digests share.
        """
        self._folder = folder
        self._skip = skip
        self._waiting: defaultdict[str, list[bytes]] = defaultdict(list)
        self._held = 0
        self._names: set[str] = set()

    def add(self, digest: str, line: bytes) -> None:
        """File a line.

        Args:
            digest: 64 hexadecimal digits.
            line: without a line break.

        Raises:
            OSError: the disk refuses.
        """
        name = digest[self._skip : self._skip + _DIGITS]
        self._waiting[name].append(b"%b%b\n" % (digest.encode(), line))
        self._held += len(line) + _DIGEST + _OBJECT_BYTES
        if self._held >= HELD_BYTES:
            self._write()

    def filed(
        self, wanted: Callable[[bytes], bool] = lambda _: True, *, most: int | None = None
    ) -> Iterator[Filed]:
        """Go through it, digest by digest in ascending order; may be done again.

        Args:
            wanted: says of a line whether it counts.
            most: lines that are kept of each digest; None for all.

        Raises:
            OSError: the disk refuses.
        """
        for name in sorted(self._names | self._waiting.keys()):
            found = self._read(name, wanted, most)
            if found is None:
                yield from self._parted(name, wanted).filed(most=most)
            else:
                yield from (found[digest] for digest in sorted(found))

    def _write(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, lines in self._waiting.items():
            with (self._folder / name).open("ab") as file:
                file.writelines(lines)
        self._names |= self._waiting.keys()
        self._waiting.clear()
        self._held = 0

    def _lines(self, name: str) -> Iterator[bytes]:
        if name in self._names:
            with (self._folder / name).open("rb") as file:
                yield from file
        yield from self._waiting.get(name, ())

    def _read(
        self, name: str, wanted: Callable[[bytes], bool], most: int | None
    ) -> dict[str, Filed] | None:
        """A bucket, unless it is too large and can be parted."""
        found: dict[str, Filed] = {}
        held = 0
        for line in self._lines(name):
            digest, rest = line[:_DIGEST].decode(), line[_DIGEST:-1]
            if not wanted(rest):
                continue
            known = found.get(digest) or Filed(digest, [], 0)
            if most is None or known.total < most:
                known.lines.append(rest)
                held += len(rest)
            found[digest] = known._replace(total=known.total + 1)
            if held > BUCKET_BYTES and len(found) > 1 and self._skip < _SKIP_MAX:
                return None
        return found

    def _parted(self, name: str, wanted: Callable[[bytes], bool]) -> Buckets:
        folder = self._folder / f"{name}-parted"
        shutil.rmtree(folder, ignore_errors=True)
        parted = Buckets(folder, skip=self._skip + _DIGITS)
        for line in self._lines(name):
            rest = line[_DIGEST:-1]
            if wanted(rest):
                parted.add(line[:_DIGEST].decode(), rest)
        return parted
