"""Text in other encodings and with other line ends, as UTF-8 lines."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, NamedTuple

from contracts.counting import counted
from trajectories.fault import Fault

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ = 64 * 1024


class Mark(NamedTuple):
    """A byte order mark, the encoding that it is of, and what Python calls that."""

    sequence: bytes
    encoding: str
    codec: str


MARKS = (
    Mark(codecs.BOM_UTF8, "UTF-8", "utf-8"),
    Mark(codecs.BOM_UTF32_LE, "UTF-32", "utf-32-le"),
    Mark(codecs.BOM_UTF32_BE, "UTF-32", "utf-32-be"),
    Mark(codecs.BOM_UTF16_LE, "UTF-16", "utf-16-le"),
    Mark(codecs.BOM_UTF16_BE, "UTF-16", "utf-16-be"),
)
NO_MARK = Mark(b"", "UTF-8", "utf-8")


def mark_of(head: bytes) -> Mark:
    """The mark that a file begins with, of which UTF-32's little-endian one contains UTF-16's."""
    return next((mark for mark in MARKS if head.startswith(mark.sequence)), NO_MARK)


class _Converted(io.RawIOBase):
    """Another stream, piece by piece in another form."""

    def __init__(self, stream: io.RawIOBase) -> None:
        super().__init__()
        self.fault: Fault | None = None
        self._stream = stream
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Convert into a buffer; 0 at the end."""
        while not self._ready and not self._ended:
            piece = self._stream.read(_READ) or b""
            self._ended = not piece
            self._ready = self._convert(piece)
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _convert(self, piece: bytes) -> bytes:
        raise NotImplementedError


class Transcoded(_Converted):
    """UTF-16 or UTF-32 after its mark, as UTF-8.

    Attributes:
        fault: where it is not what its mark says.
    """

    def __init__(self, stream: io.RawIOBase, mark: Mark) -> None:
        super().__init__(stream)
        self._mark = mark
        self._decoder = codecs.getincrementaldecoder(mark.codec)()
        self._seen = 0

    def _convert(self, piece: bytes) -> bytes:
        try:
            text = self._decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            self._ended = True
            self.fault = Fault(
                f"is no longer {self._mark.encoding} after about {counted(self._seen, 'byte')}",
                "save it in UTF-8: what was before that place is read",
            )
            text = error.object[: error.start].decode(self._mark.codec)
        self._seen += len(piece)
        return text.encode("utf-8")


class BareReturns(_Converted):
    """Lines that end in a carriage return alone, as lines that end in a newline."""

    def _convert(self, piece: bytes) -> bytes:
        return piece.replace(b"\r", b"\n")
