"""A coarse look at an upload's first bytes; `collect` reads it in full later."""

from __future__ import annotations

import json

from lambdas.logic.upload_key import Refusal

_BINARY = {
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1")
"""gzip, zstandard and Parquet: what is in them, only a full reading tells."""
_FORMS = "upload JSON or JSON Lines as UTF-8 text, plain or packed with gzip or zstd; or Parquet"
_BOM = b"\xef\xbb\xbf"
_SHOWN = 40


def sniff(head: bytes, *, complete: bool) -> Refusal | None:
    """Refuse what cannot hold records.

    Args:
        head: the object's first bytes.
        complete: whether `head` is the whole object.
    """
    if head.startswith(_PACKED):
        return None
    kind = next((name for magic, name in _BINARY.items() if head.startswith(magic)), None)
    if kind is None and b"\x00" in head:
        kind = "binary: it has NUL bytes"
    if kind is not None:
        return Refusal(f"the file is {kind}", _FORMS)
    text = head.removeprefix(_BOM).decode("utf-8", errors="replace").strip()
    if not text:
        return Refusal("the file holds only white space", "upload at least one record")
    if text[0] not in "{[":
        return Refusal(
            f"the file is not JSON: it begins with {text[:_SHOWN]!r}",
            "upload a JSON array of records, or one JSON object a line",
        )
    if complete and not (_parses(text) or any(_parses(line) for line in text.splitlines())):
        return Refusal(
            "the file is not JSON: neither the whole nor any line of it parses",
            "check it with `relay validate FILE`",
        )
    return None


def _parses(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
