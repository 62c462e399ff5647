"""A file's content as UTF-8 bytes, whatever it is packed in and encoded as."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from trajectories.encoding import NO_MARK, BareReturns, Mark, Transcoded, mark_of
from trajectories.fault import Fault
from trajectories.unpacking import BOUNDS, Bounds, Packing, Unpacked, packing_of, unpack

HEAD_BYTES = 16
_BUFFER = 1024**2


class Wrapping(NamedTuple):
    """What is around a file's records.

    Attributes:
        packing: how it is compressed.
        mark: the byte order mark of its content.
        bare_returns: whether its lines end in carriage returns alone.
    """

    packing: Packing = ""
    mark: Mark = NO_MARK
    bare_returns: bool = False

    @property
    def words(self) -> str:
        """For the evidence; empty when there is nothing to say."""
        parts = [
            f"compressed with {self.packing}" if self.packing else "",
            self._mark_words,
            "with carriage returns for line ends" if self.bare_returns else "",
        ]
        return ", ".join(part for part in parts if part)

    @property
    def _mark_words(self) -> str:
        if not self.mark.sequence:
            return ""
        return "after a byte order mark" if self.mark.codec == "utf-8" else self.mark.encoding


class Content:
    """What is in the wrapping, as a stream."""

    def __init__(
        self, file: io.BufferedReader, layers: list[Unpacked | Transcoded], raw: io.FileIO
    ) -> None:
        self.file = file
        self._layers = layers
        self._raw = raw

    @property
    def position(self) -> int:
        """Bytes of the file that have been read, as it lies there."""
        return self._raw.tell()

    @property
    def fault(self) -> Fault | None:
        """Why the content ended early, once it was read to its end."""
        return next((layer.fault for layer in self._layers if layer.fault), None)


def wrapping_of(path: Path, bounds: Bounds = BOUNDS) -> Wrapping:
    """Look at a file's first bytes, unpacked.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        packing = packing_of(file.read(HEAD_BYTES))
    with open_content(path, Wrapping(packing), bounds) as content:
        return Wrapping(packing, mark_of(content.file.read(HEAD_BYTES)))


@contextmanager
def open_content(path: Path, wrapping: Wrapping, bounds: Bounds = BOUNDS) -> Iterator[Content]:
    """Open a file's content behind its mark.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb", buffering=0) as raw:
        layers: list[Unpacked | Transcoded] = []
        unpacked = unpack(raw, wrapping.packing, bounds)
        stream: io.RawIOBase = unpacked or raw
        if unpacked:
            layers.append(unpacked)
        mark = wrapping.mark
        if mark.sequence:
            _skip(stream, len(mark.sequence))
        if mark.codec != "utf-8":
            transcoded = Transcoded(stream, mark)
            layers.append(transcoded)
            stream = transcoded
        if wrapping.bare_returns:
            stream = BareReturns(stream)
        yield Content(io.BufferedReader(stream, _BUFFER), layers, raw)


def _skip(stream: io.RawIOBase, size: int) -> None:
    while size and (read := stream.read(size)):
        size -= len(read)
