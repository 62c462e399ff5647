"""Compressed files as streams of their content: bounded, and honest about where they break."""

from __future__ import annotations

import io
import zlib
from abc import abstractmethod
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from trajectories.fault import Fault

if TYPE_CHECKING:
    import zstandard
    from _typeshed import WriteableBuffer

Packing = Literal["", "gzip", "zstd"]


class Bounds(NamedTuple):
    """How far a file may unpack.

    Attributes:
        ratio: most bytes out for a byte in; JSON seldom packs better than 30 to 1.
        free_bytes: bytes out before the ratio counts.
        bytes_max: most bytes out.
    """

    ratio: int = 200
    free_bytes: int = 1024**2
    bytes_max: int = 64 * 1024**3


BOUNDS = Bounds()
WINDOW_BYTES_MAX = 128 * 1024**2
"""Largest zstd window, which is held in memory; `zstd --long` needs it."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_READ = 64 * 1024
_OUT = 256 * 1024
_ZSTD_PIECE = 1024
"""A zstd block of 4 bytes may unpack to 128 KiB, so this much unpacks to 32 MiB at most."""
_CUT_OFF = "upload it again in full: what was before the break is read"
_DAMAGED = "compress it again: what was before the damage is read"


def packing_of(head: bytes) -> Packing:
    """How a file that begins so is compressed; skippable zstd frames count as zstd."""
    if head.startswith(_GZIP):
        return "gzip"
    skippable = head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50  # noqa: PLR2004
    return "zstd" if head.startswith(_ZSTD) or skippable else ""


class Unpacked(io.RawIOBase):
    """A compressed file's content.

    Attributes:
        fault: why the content ended before the file did, or where the file was cut off.
    """

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        super().__init__()
        self.fault: Fault | None = None
        self._file = file
        self._bounds = bounds
        self._given = b""
        self._taken = 0
        self._made = 0
        self._ready = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Unpack into a buffer; 0 at the end, whatever ended it."""
        while not self._ready and not self._ended:
            self._ready = memoryview(self._counted(self._step()))
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    @abstractmethod
    def _step(self) -> bytes:
        """Unpack a little; empty bytes are no end, `_end` is."""

    def _end(self, problem: str = "", remedy: str = "") -> bytes:
        self._ended = True
        if problem:
            self.fault = Fault(problem, remedy)
        return b""

    def _more(self) -> bool:
        """Take more of the file; false at its end."""
        more = self._file.read(_READ)
        self._taken += len(more)
        self._given += more
        return bool(more)

    def _counted(self, data: bytes) -> bytes:
        """The data, up to where the file has unpacked too far."""
        bounds = self._bounds
        most = max(bounds.free_bytes, bounds.ratio * self._taken)
        before, self._made = self._made, self._made + len(data)
        if self._made > bounds.bytes_max:
            size = f"{bounds.bytes_max // 1024**2:,} MiB"
            self._end(f"unpacks to more than {size}", "split it")
        elif self._made > most:
            problem = f"unpacks to more than {bounds.ratio} times its size"
            self._end(problem, "give it uncompressed, if its content is meant so")
        return data[: max(0, min(most, bounds.bytes_max) - before)]


class Gunzipped(Unpacked):
    """One gzip member after another, as `cat a.gz b.gz` makes them, and padding by zeros."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        super().__init__(file, bounds)
        self._decoder: zlib._Decompress | None = None

    def _step(self) -> bytes:
        if self._decoder is None:
            return self._open()
        if not self._given and not self._more():
            rest = self._decoder.decompress(b"", _OUT)
            return rest or self._end("is cut off: its gzip data has no end", _CUT_OFF)
        try:
            made = self._decoder.decompress(self._given, _OUT)
        except zlib.error:
            return self._end("is damaged: its gzip data does not unpack", _DAMAGED)
        self._given = self._decoder.unconsumed_tail
        if self._decoder.eof:
            self._given, self._decoder = self._decoder.unused_data, None
        return made

    def _open(self) -> bytes:
        while len(self._given) < 2 and self._more():  # noqa: PLR2004
            pass
        if self._given.startswith(_GZIP):
            self._decoder = zlib.decompressobj(wbits=31)
        elif not self._given:
            return self._end()
        elif self._given.startswith(b"\0"):
            self._given = self._given.lstrip(b"\0")
        elif _GZIP.startswith(self._given):
            return self._end("is cut off: its gzip data has no end", _CUT_OFF)
        else:
            return self._end("goes on after its gzip data with something else", "take that off")
        return b""


class Unzstd(Unpacked):
    """One zstd frame after another."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        super().__init__(file, bounds)
        self._decoder: zstandard.ZstdDecompressionObj | None = None

    def _step(self) -> bytes:
        from zstandard import ZstdError

        if not self._given and not self._more():
            if self._decoder is None:
                return self._end()
            return self._end("is cut off: its zstd data has no end", _CUT_OFF)
        if self._decoder is None and not self._open():
            if _ZSTD.startswith(self._given):
                return self._end("is cut off: its zstd data has no end", _CUT_OFF)
            return self._end("goes on after its zstd data with something else", "take that off")
        assert self._decoder is not None
        piece, self._given = self._given[:_ZSTD_PIECE], self._given[_ZSTD_PIECE:]
        try:
            made = self._decoder.decompress(piece)
        except ZstdError:
            return self._end("is damaged: its zstd data does not unpack", _DAMAGED)
        if self._decoder.eof:
            self._given, self._decoder = self._decoder.unused_data + self._given, None
        return made

    def _open(self) -> bool:
        from zstandard import ZstdDecompressor

        while len(self._given) < 4 and self._more():  # noqa: PLR2004
            pass
        if packing_of(self._given) != "zstd":
            return False
        self._decoder = ZstdDecompressor(max_window_size=WINDOW_BYTES_MAX).decompressobj()
        return True


def unpack(file: BinaryIO, packing: Packing, bounds: Bounds = BOUNDS) -> Unpacked | None:
    """A stream of a compressed file's content; None where it is not compressed."""
    if packing == "gzip":
        return Gunzipped(file, bounds)
    return Unzstd(file, bounds) if packing == "zstd" else None
