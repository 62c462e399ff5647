"""What kind of file it is, by its content: lines, an array, objects, a table, or none of these."""

from __future__ import annotations

import re
from typing import BinaryIO, Literal, NamedTuple

from trajectories.json_lines import LINE_BYTES_MAX
from trajectories.refusal import shown
from trajectories.strict_json import JsonFault, StrictDecoder

LOOK_BYTES = 64 * 1024
PARQUET = b"PAR1"
ENCRYPTED_PARQUET = b"PARE"
_AS_JSON = "give JSON Lines (one record a line), a JSON array of records, or Parquet"
FROM_CSV = "docs/formats.md has the line of Python that makes JSON Lines of CSV"
_CSV_HEAD = re.compile(rb'"?\w+"?(?:([,;\t|])"?\w+"?)(?:\1"?\w+"?)*\s*')
"""Names of columns, parted by one of the usual marks."""
_ZIP, _OFFICE_PART = b"PK\x03\x04", b"[Content_Types].xml"
_OFFICE = ("is a document of an office suite, such as Excel's", f"save it as CSV; {FROM_CSV}")
_UNQUOTED = "write each record itself, not its text"
_FOREIGN = (
    (b"\x1f\x8b", "is compressed twice", "compress it once"),
    (b"\x28\xb5\x2f\xfd", "is compressed twice", "compress it once"),
    (PARQUET, "is a Parquet file that is compressed once more", "drop the Parquet file as it is"),
    (_ZIP, "is a zip archive", "unpack it first"),
    (b"PK\x05\x06", "is an empty zip archive", _AS_JSON),
    (b"\xd0\xcf\x11\xe0", *_OFFICE),
    (b"version https://git-lfs", "is a pointer that Git LFS left for the file", "`git lfs pull`"),
    (b'"{', "holds its records as JSON within text", _UNQUOTED),
    (b'"[', "holds its records as JSON within text", _UNQUOTED),
    (b"BZh", "is compressed with bzip2", "compress it with gzip or zstd"),
    (b"\xfd7zXZ", "is compressed with xz", "compress it with gzip or zstd"),
    (b"ARROW1", "is an Arrow file", "write it as Parquet"),
    (b"\x89HDF", "is an HDF5 file", _AS_JSON),
    (b"<", "is HTML or XML", _AS_JSON),
)
_TAR_AT, _TAR = 257, b"ustar"
_WHITE = b" \t\r\n"
_MARKS = {b"{", b"["}


class Container(NamedTuple):
    """How the file holds its records.

    Attributes:
        kind: `neither` when it holds none that can be read.
        words: how, or what is wrong when `kind` is `neither`.
        remedy: empty unless it is.
        bare_returns: whether its lines end in carriage returns alone.
    """

    kind: Literal["lines", "array", "objects", "table", "neither"]
    words: str
    remedy: str = ""
    bare_returns: bool = False


class _Beginning(NamedTuple):
    first: bytes
    second: bytes
    head: bytes


def look(file: BinaryIO) -> Container:
    """Say how the file holds its records; its first lines are read, in bounded memory.

    Args:
        file: open for reading bytes, at its beginning, behind any byte order mark.
    """
    found = _begin(file)
    if not found.first:
        words = "holds white space only" if found.head else "is empty"
        return Container("neither", words, _AS_JSON)
    if _ends_in_returns(found.head):
        lines = [line + b"\n" for line in found.head.split(b"\r") if line.strip(_WHITE)]
        first, second = (*lines, b"", b"")[:2]
        return _judge(_Beginning(first, second, found.head))._replace(bare_returns=True)
    return _judge(found)


def _begin(file: BinaryIO) -> _Beginning:
    lines: list[bytes] = []
    head = b""
    while len(lines) < 2 and (line := file.readline(LINE_BYTES_MAX)):  # noqa: PLR2004
        if len(head) < LOOK_BYTES:
            head = (head + line)[:LOOK_BYTES]
        if line.strip(_WHITE):
            lines.append(line)
    head += file.read(LOOK_BYTES - len(head))
    first, second = (*lines, b"", b"")[:2]
    if not first.endswith(b"\n"):
        # Cut off by the bound: what was read next is more of the same line.
        second = b""
    return _Beginning(first, second, head)


def _ends_in_returns(head: bytes) -> bool:
    """No newline, and something after a carriage return; within text JSON escapes those."""
    return b"\n" not in head and b"\r" in head.strip(_WHITE)


def _judge(found: _Beginning) -> Container:
    if b"\x00" in found.head[:2] and found.head[:2].strip(b"\x00") in _MARKS:
        return Container("neither", "is UTF-16 without a byte order mark", "save it in UTF-8")
    mark = found.first.lstrip(_WHITE)[:1]
    if mark == b"[":
        return Container("array", "a JSON array")
    if mark == b"{" and _is_spread(found.first, found.second):
        return Container("objects", "JSON objects spread over several lines")
    if mark == b"{":
        return Container("lines", "one JSON record a line")
    return _judge_foreign(found.first, found.head)


def _judge_foreign(first: bytes, head: bytes) -> Container:
    begins = (head, first.lstrip(_WHITE))
    found = next(
        (words for magic, *words in _FOREIGN if any(one.startswith(magic) for one in begins)), None
    )
    if found:
        of_office = head.startswith(_ZIP) and _OFFICE_PART in head
        return Container("neither", *(_OFFICE if of_office else found))
    if head[_TAR_AT:].startswith(_TAR):
        return Container("neither", "is a tar archive", "drop the files in it, not the archive")
    if b"\x00" in head:
        return Container("neither", "is binary: it holds NUL bytes", _AS_JSON)
    if any(line.lstrip(_WHITE)[:1] == b"{" for line in head.split(b"\n")):
        return Container("lines", "one JSON record a line, though the first is none")
    beginning = shown(first.decode("utf-8", "replace").strip())
    if len(first) < LOOK_BYTES and _CSV_HEAD.fullmatch(first):
        return Container("neither", f"is CSV: its columns are {beginning}", FROM_CSV)
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
