"""Text as editors and spreadsheets save it."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from pair_files import lines, only_problem, read, trl

TWO = lines(trl(1), trl(2, chosen="Grüße 👋"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_16_and_32_with_a_mark_are_converted(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    content = (mark + TWO.decode()).encode(encoding)
    reading = read(tmp_path, content)
    assert reading.pairs == read(tmp_path, TWO).pairs
    assert encoding[:6].upper() in reading.evidence


def test_an_array_in_utf_16_is_converted_too(tmp_path: Path) -> None:
    content = json.dumps([trl(1), trl(2)], indent=1).encode("utf-16")
    assert read(tmp_path, content).usable == 2


def test_utf_16_that_breaks_gives_what_was_before(tmp_path: Path) -> None:
    content = TWO.decode().encode("utf-16") + b"\x00\xd8\x00\x00" + b"\n\x00"
    reading = read(tmp_path, content)
    assert reading.usable == 2
    assert "is no longer UTF-16" in reading.problems[-1].problem


@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n\n", b"\r\n\r\n"])
def test_any_line_end_ends_a_line(tmp_path: Path, end: bytes) -> None:
    reading = read(tmp_path, TWO.replace(b"\n", end))
    assert (reading.records, reading.usable) == (2, 2)


def test_lines_that_end_in_returns_alone_are_numbered_and_told(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1), b"nonsense", trl(2)).replace(b"\n", b"\r"))
    assert only_problem(reading)[0] == 2
    assert "carriage returns" in reading.evidence


@pytest.mark.parametrize("packed", [False, True])
def test_a_mark_is_no_part_of_the_first_record(tmp_path: Path, *, packed: bool) -> None:
    import gzip

    content = codecs.BOM_UTF8 + TWO
    reading = read(tmp_path, gzip.compress(content) if packed else content)
    assert reading.usable == 2
    assert "after a byte order mark" in reading.evidence


def test_text_after_many_chunks_is_decoded_across_their_borders(tmp_path: Path) -> None:
    records = [trl(number, chosen="ü€👋" * 400) for number in range(300)]
    content = json.dumps(records, ensure_ascii=False).encode()
    assert len(content) > 1024**2
    reading = read(tmp_path, content)
    assert reading.usable == 300
    assert {pair.chosen[0].content for pair in reading.pairs} == {"ü€👋" * 400}


@pytest.mark.parametrize("digits", ["9007199254740993", "18446744073709551616", "9" * 400])
def test_whole_numbers_of_any_size_are_kept(tmp_path: Path, digits: str) -> None:
    line = f'{{"n": {digits}, "deep": [{{"m": -{digits}}}], '.encode() + lines(trl(1))[1:]
    for content in (line, b"[" + line + b"]"):
        (pair,) = read(tmp_path, content).pairs
        assert pair.metadata == {"n": int(digits), "deep": [{"m": -int(digits)}]}
