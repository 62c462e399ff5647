"""Files as people drop them by mistake, and what each is to be told: its problem, and the remedy.

Those with a number of usable records are taken, and the others are refused.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from typing import NamedTuple

from pair_files import lines, trl

GOOD = lines(*(trl(number) for number in range(12)))
RECORDS = [trl(number) for number in range(12)]
BOM = b"\xef\xbb\xbf"


class Odd(NamedTuple):
    content: bytes
    usable: int
    problem: str = ""
    remedy: str = ""


def _tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("a.jsonl")
        member.size = len(GOOD)
        archive.addfile(member, io.BytesIO(GOOD))
    return made.getvalue()


def _zip(name: str = "", content: bytes = b"") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        if name:
            archive.writestr(name, content)
    return made.getvalue()


_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
_CSV = "the line of Python that makes JSON Lines of CSV"
_PRETTY = [json.dumps(one, indent=2).encode() for one in RECORDS]

ODD: dict[str, Odd] = {
    "a zip": Odd(_zip("a.jsonl", GOOD), 0, "is a zip archive", "unpack it"),
    "an empty zip": Odd(_zip(), 0, "is an empty zip archive"),
    "a tar": Odd(_tar(), 0, "is a tar archive", "drop the files in it"),
    "a tar in gzip": Odd(gzip.compress(_tar()), 0, "is a tar archive"),
    "a workbook": Odd(_zip("[Content_Types].xml"), 0, "is a document of an office suite", _CSV),
    "an old workbook": Odd(b"\xd0\xcf\x11\xe0" + bytes(600), 0, "of an office suite", _CSV),
    "a page of errors": Odd(b"<!DOCTYPE html>\n<html></html>", 0, "is HTML or XML"),
    "an error in JSON": Odd(b'{"error": {"code": 404}}', 0, "the first record has the fields"),
    "a pointer": Odd(_POINTER, 0, "is a pointer that Git LFS left", "git lfs pull"),
    "csv": Odd(b"prompt,chosen,rejected\nq,a,b\n", 0, "is CSV: its columns are", _CSV),
    "csv by semicolons": Odd(b'"prompt";"chosen"\r\nq;a\r\n', 0, "is CSV", _CSV),
    "csv by tabs behind a mark": Odd(BOM + b"prompt\tchosen\nq\ta\n", 0, "is CSV", _CSV),
    "yaml": Odd(b"- prompt: q\n  chosen: a\n", 0, "is not JSON: it begins with '- prompt: q'"),
    "text of JSON": Odd(
        lines(*(json.dumps(one) for one in RECORDS)), 0, "as JSON within text", "itself"
    ),
    "records in a field": Odd(
        json.dumps({"data": RECORDS}).encode(), 0, "in its field 'data', which look like trl_pairs"
    ),
    "records in a list": Odd(
        json.dumps([RECORDS]).encode(), 0, "in a list within it, which look like trl_pairs"
    ),
    "objects with commas": Odd(b",\n".join(_PRETTY), 1, "has a comma after record 1", "put ["),
    "zeros behind an array": Odd(json.dumps(RECORDS).encode() + bytes(99), 12, "a NUL byte"),
    "zeros behind lines": Odd(GOOD + bytes(99), 12, "holds a NUL byte at byte 1"),
    "zeros before lines": Odd(bytes(99) + GOOD, 0, "is binary"),
    "a comment first": Odd(b"// mine\n" + GOOD, 12, "expecting value, not '/'"),
    "a log line first": Odd(b"INFO begun\n" + GOOD, 12, "expecting value, not 'I'"),
    "two marks": Odd(BOM + BOM + GOOD, 11, r"expecting value, not '\ufeff'"),
    "files with marks joined": Odd(BOM + GOOD + BOM + GOOD, 23, r"not '\ufeff'"),
    "a space of no width": Odd("\u200b".encode() + GOOD, 11, r"not '\u200b'"),
    "Python's own": Odd(b"{'prompt': 'q'}\n" + GOOD, 12, 'double quotes, not "\'"'),
    "much white space first": Odd(b" " * 70_000 + b"\n" + GOOD, 12),
    "much white space and a page": Odd(b" " * 70_000 + b"<html>", 0, "is HTML or XML"),
    "nothing but white space": Odd(b" \n\t\n", 0, "holds white space only"),
    "the first bytes of a gzip": Odd(b"\x1f\x8b", 0, "is cut off"),
    "a gzip and one byte of another": Odd(gzip.compress(GOOD) + b"\x1f", 12, "is cut off"),
}
