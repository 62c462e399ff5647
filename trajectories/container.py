"""What kind of file it is, by its content: lines, an array, objects, or no JSON at all."""

from __future__ import annotations

from typing import BinaryIO, Literal, NamedTuple

from trajectories.json_lines import LINE_BYTES_MAX
from trajectories.refusal import shown
from trajectories.strict_json import JsonFault, StrictDecoder

BOM = b"\xef\xbb\xbf"
LOOK_BYTES = 64 * 1024
_AS_JSON = "give JSON Lines (one record a line) or a JSON array of records"
_FOREIGN = (
    (b"\x1f\x8b", "is compressed with gzip", "decompress it first"),
    (b"PK\x03\x04", "is a zip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd", "decompress it first"),
    (b"PAR1", "is a Parquet file", _AS_JSON),
    (b"ARROW1", "is an Arrow file", _AS_JSON),
    (b"\xff\xfe", "is UTF-16", "save it in UTF-8"),
    (b"\xfe\xff", "is UTF-16", "save it in UTF-8"),
    (b"<", "is HTML or XML", _AS_JSON),
)
_WHITE = b" \t\r\n"


class Container(NamedTuple):
    """How the file holds its records.

    `words` says so, or what is wrong when `kind` is `neither`; `remedy` is empty otherwise.
    """

    kind: Literal["lines", "array", "objects", "neither"]
    words: str
    remedy: str = ""


def look(file: BinaryIO) -> Container:
    """Say how the file holds its records; leaves it at its first byte after any mark.

    Args:
        file: open for reading bytes, seekable, at its beginning.
    """
    marked = file.read(len(BOM)) == BOM
    start = len(BOM) if marked else 0
    file.seek(start)
    first, second, white_only = _first_lines(file)
    file.seek(start)
    head = file.read(LOOK_BYTES)
    file.seek(start)
    if white_only:
        return Container(
            "neither", "is empty" if not head and not marked else "holds white space only", _AS_JSON
        )
    found = _judge(first, second, head)
    return found._replace(words=f"{found.words}, after a byte order mark") if marked else found


def _first_lines(file: BinaryIO) -> tuple[bytes, bytes, bool]:
    lines: list[bytes] = []
    while len(lines) < 2 and (line := file.readline(LINE_BYTES_MAX)):  # noqa: PLR2004
        if line.strip(_WHITE):
            lines.append(line)
    first, second = (*lines, b"", b"")[:2]
    if not first.endswith(b"\n"):
        # Cut off by the bound: what was read next is more of the same line.
        second = b""
    return first, second, not lines


def _judge(first: bytes, second: bytes, head: bytes) -> Container:
    mark = first.lstrip(_WHITE)[:1]
    if mark == b"[":
        return Container("array", "a JSON array")
    if mark == b"{" and _is_spread(first, second):
        return Container("objects", "JSON objects spread over several lines")
    if mark == b"{":
        return Container("lines", "one JSON record a line")
    return _judge_foreign(first, head)


def _judge_foreign(first: bytes, head: bytes) -> Container:
    for magic, problem, remedy in _FOREIGN:
        if head.startswith(magic):
            return Container("neither", problem, remedy)
    if b"\x00" in head:
        return Container("neither", "is binary: it holds NUL bytes", _AS_JSON)
    if any(line.lstrip(_WHITE)[:1] == b"{" for line in head.split(b"\n")):
        return Container("lines", "one JSON record a line, though the first is none")
    beginning = shown(first.decode("utf-8", "replace").strip())
    return Container("neither", f"is not JSON: it begins with {beginning}", _AS_JSON)


def _is_spread(first: bytes, second: bytes) -> bool:
    """A record does not end on its line, and the next line looks like more of it."""
    if second[:1] not in {b" ", b"\t", b'"', b"}"}:
        return False
    try:
        StrictDecoder().decode_line(first)
    except JsonFault:
        return True
    return False
