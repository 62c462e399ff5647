"""A coarse look at an upload's first bytes; `collect` reads it in full later."""

from __future__ import annotations

from contracts.limits import SNIFF_BYTES
from lambdas.logic.upload_key import Refusal

_BINARY = {
    b"PK\x03\x04": "a zip archive",
}
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1")
"""gzip, zstandard and Parquet: what is in them, only a full reading tells."""
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""Marks of UTF-16 and UTF-32, which a full reading converts."""
_FORMS = "upload JSON or JSON Lines as UTF-8 text, plain or packed with gzip or zstd; or Parquet"
_BOM = b"\xef\xbb\xbf"
_SHOWN = 40


def sniff(head: bytes) -> Refusal | None:
    """Refuse what cannot hold records.

    What may hold records is for `collect` to say, so that nothing is refused here that
    `relay validate` would take.

    Args:
        head: the object's first bytes.
    """
    if head.startswith((*_PACKED, *_WIDE)) or _may_hold(head):
        return None
    kind = next((name for magic, name in _BINARY.items() if head.startswith(magic)), None)
    if kind is not None:
        return Refusal(f"the file is {kind}", _FORMS)
    text = _text(head)
    if not text:
        return Refusal("the file holds only white space", "upload at least one record")
    if "\x00" in text:
        return Refusal("the file is binary: it has NUL bytes", _FORMS)
    return Refusal(
        f"the file is not JSON: it begins with {text[:_SHOWN]!r}",
        "upload a JSON array of records, or one JSON object a line",
    )


def _may_hold(head: bytes) -> bool:
    """Whether a full reading might find records: a list, objects, or more than was looked at."""
    text = _text(head)
    if not text:
        return len(head) >= SNIFF_BYTES
    if text[1:2] == "\x00" or head.startswith(tuple(_BINARY)):
        return False
    has_objects = any(line.lstrip().startswith("{") for line in text.split("\n"))
    return text[0] in "{[" or (has_objects and "\x00" not in text)


def _text(head: bytes) -> str:
    return head.removeprefix(_BOM).decode("utf-8", errors="replace").strip()
