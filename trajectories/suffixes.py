"""What a file's name says of its content; the content decides, the name is only remarked on."""

from __future__ import annotations

from pathlib import PurePosixPath

_PACKED = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_HELD = {
    ".jsonl": {"lines"},
    ".ndjson": {"lines"},
    ".json": {"lines", "array", "objects"},
    ".parquet": {"table"},
}


def remark(name: str, packing: str, kind: str) -> str:
    """A clause for the evidence where the name says something else; empty where it does not.

    Args:
        name: the file's, with or without folders.
        packing: how it is compressed, empty if it is not.
        kind: how it holds its records.
    """
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes]
    last = suffixes[-1] if suffixes else ""
    said = _PACKED.get(last, "")
    if said:
        inner = suffixes[-2] if len(suffixes) > 1 else ""
        wrong = said != packing or kind not in _HELD.get(inner, {kind})
    else:
        wrong = (bool(packing) and last in _HELD) or kind not in _HELD.get(last, {kind})
    ending = "".join(suffixes[-2:]) if said else last
    return f"although its name ends in {ending}" if wrong else ""
