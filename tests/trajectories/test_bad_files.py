"""Files that are not what they should be, each with the words its uploader reads."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path

import pytest
from pair_files import lines, only_problem, read, trl
from whole_files import read_file

from trajectories import container, json_lines, json_window
from trajectories.strict_json import NESTING_MAX


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n \r\n\t\n", "holds white space only"),
        (codecs.BOM_UTF8, "is empty"),
        (codecs.BOM_UTF8 + b"\n", "holds white space only"),
        (b"dear desk,\nhere are the pairs\n", "is not JSON: it begins with 'dear desk,'"),
        (
            b"prompt,chosen,rejected\na,b,c\n",
            "is CSV: its columns are 'prompt,chosen,rejected'",
        ),
        (b"<html></html>", "is HTML or XML"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "is compressed twice"),
        (gzip.compress(b"PAR1\x00\x01", mtime=0), "is a Parquet file that is compressed once more"),
        (b"PARE\x00\x01", "is an encrypted Parquet file"),
        (b"BZh91AY", "is compressed with bzip2"),
        (b"\xfd7zXZ\x00", "is compressed with xz"),
        (b"x" * 257 + b"ustar\x00", "is a tar archive"),
        (b"\x89HDF\r\n", "is an HDF5 file"),
        (b"PK\x03\x04rest", "is a zip archive"),
        (json.dumps(trl()).encode("utf-16-le"), "is UTF-16 without a byte order mark"),
        (json.dumps([trl()]).encode("utf-16-be"), "is UTF-16 without a byte order mark"),
        (b"\x7fELF\x00\x00", "is binary: it holds NUL bytes"),
    ],
)
def test_a_file_that_is_no_json_is_one_problem_of_the_file(
    tmp_path: Path, content: bytes, words: str
) -> None:
    reading = read(tmp_path, content)
    assert (reading.format, reading.records, reading.usable) == ("", 0, 0)
    line, field, problem = only_problem(reading)
    assert (line, field) == (0, "file")
    assert problem == f"f.jsonl {words}"


@pytest.mark.parametrize("content", [b"[]", b" [ \n ] \n"])
def test_an_empty_array_holds_no_record(tmp_path: Path, content: bytes) -> None:
    reading = read(tmp_path, content)
    assert reading.records == 0
    assert only_problem(reading) == (0, "file", "f.jsonl holds no record")


@pytest.mark.parametrize("cut", [1, 10, 40, 90])
def test_half_a_last_line_is_a_problem_of_that_line_only(tmp_path: Path, cut: int) -> None:
    content = lines(trl(1), trl(2), trl(3))
    reading = read(tmp_path, content[: -cut - 1])
    assert (reading.records, reading.usable, reading.rejected) == (3, 2, 1)
    assert only_problem(reading) == (3, "record", "ends in the middle")


def test_a_last_line_without_its_newline_is_whole(tmp_path: Path) -> None:
    assert read(tmp_path, lines(trl(1), trl(2)).rstrip()).usable == 2


def test_a_single_record_cut_off_is_one_rejected_record(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1))[:30])
    assert (reading.records, reading.rejected) == (1, 1)
    assert only_problem(reading) == (1, "record", "ends in the middle")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"prompt": "a", "chosen": NaN, "rejected": "b"}', "holds NaN, which is not JSON"),
        (b'{"prompt": "a", "chosen": -Infinity, "rejected": "b"}', "holds -Infinity"),
        (b'{"score": 1e999, "chosen": "a", "rejected": "b"}', "which is too large"),
        (b'{"chosen": "a", "chosen": "b", "rejected": "c"}', "has the key 'chosen' twice"),
        (b'{"a": {"k": 1, "k": 1}}', "has the key 'k' twice"),
        (b'{"prompt": "a\xff"}', "is not UTF-8 at byte 14"),
        (b'{"prompt": "a\x00"}', "holds a NUL byte at byte 14"),
        (b'{"n": ' + b"9" * 5000 + b"}", "holds a number of too many digits"),
        (b"[" * 100_000, f"is nested deeper than {NESTING_MAX} at character {NESTING_MAX + 1}"),
        (b'{"a":' * 100_000, f"is nested deeper than {NESTING_MAX}"),
        (b"{'prompt': 'a'}", "is not JSON at column 2: expecting property name"),
        (b'{"prompt": "a",}', ": a comma stands before a closing bracket"),
        (b'{"prompt": ["a", \t]}', ": a comma stands before a closing bracket"),
        (b'{"prompt": "a"},', "goes on after its end, at character 16"),
        (b'{"prompt": "a\tb"}', "is not JSON at column 14: invalid control character"),
        (b'{"prompt": "a"} {"prompt": "b"}', "goes on after its end, at character 17"),
        (b"prompt: a", "is not JSON at column 1"),
    ],
)
def test_a_line_that_is_not_strict_json_is_rejected_with_its_reason(
    tmp_path: Path, line: bytes, words: str
) -> None:
    reading = read(tmp_path, lines(trl(1), line, trl(2)))
    assert (reading.records, reading.usable) == (3, 2)
    number, field, problem = only_problem(reading)
    assert (number, field) == (2, "record")
    assert problem.startswith(words) or words in problem


def test_a_bad_first_line_does_not_hide_the_lines_after_it(tmp_path: Path) -> None:
    for first in (b"# exported on Monday", b'{"prompt": ', b"]", b"\x00"):
        reading = read(tmp_path, lines(first, trl(1), trl(2)))
        if first == b"\x00":
            assert only_problem(reading)[2] == "f.jsonl is binary: it holds NUL bytes"
        else:
            assert (reading.usable, reading.rejected) == (2, 1), first


def test_deep_nesting_within_text_is_no_nesting(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(prompt="[{" * 500 + '\\"[' * 50)))
    assert reading.usable == 1


def test_a_line_longer_than_the_bound_is_a_problem_and_is_never_held_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "LINE_BYTES_MAX", 1024 * 1024)
    long = trl(prompt="a" * 3 * 1024 * 1024)
    reading = read(tmp_path, lines(trl(1), long, trl(2)))
    assert (reading.usable, reading.rejected) == (2, 1)
    assert only_problem(reading) == (2, "record", "is longer than 1 MiB")


def test_a_line_of_exactly_the_bound_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = lines(trl(1))
    monkeypatch.setattr(json_lines, "LINE_BYTES_MAX", len(content))
    assert read(tmp_path, content + lines(trl(2))).usable == 2


def test_a_record_of_an_array_longer_than_the_bound_ends_the_reading_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_window, "VALUE_CHARS_MAX", 1024 * 1024)
    content = json.dumps([trl(1), trl(prompt="a" * 3 * 1024 * 1024), trl(2)]).encode()
    reading = read(tmp_path, content)
    assert (reading.records, reading.usable) == (2, 1)
    words = "is longer than 1 MiB (nothing after it could be read)"
    assert only_problem(reading) == (2, "record", words)


def test_a_mark_crlf_and_blank_lines_are_taken_and_the_mark_is_said(tmp_path: Path) -> None:
    content = codecs.BOM_UTF8 + lines(trl(1), b"", trl(2), b"  ").replace(b"\n", b"\r\n")
    reading = read(tmp_path, content)
    assert (reading.records, reading.usable) == (2, 2)
    assert "after a byte order mark" in reading.evidence


def test_blank_lines_are_counted_in_line_numbers(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1), b"", b"", b"nonsense"))
    assert only_problem(reading)[0] == 4


def test_a_first_line_longer_than_the_bound_is_still_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = b'{"prompt": "' + b"a" * 1000
    for module in (json_lines, container):
        monkeypatch.setattr(module, "LINE_BYTES_MAX", len(start))
    long = start + b'", "chosen": "b", "rejected": "c"}'
    reading = read(tmp_path, lines(long, trl(1), trl(2)))
    assert (reading.usable, reading.rejected) == (2, 1)
    assert only_problem(reading)[0] == 1


def test_an_object_of_very_many_keys_is_checked_in_no_time(tmp_path: Path) -> None:
    keys = ", ".join(f'"{number}": 0' for number in range(200_000))
    reading = read(tmp_path, lines(trl(1), f'{{{keys}, "last": 0, "last": 0}}'.encode()))
    assert only_problem(reading) == (2, "record", "has the key 'last' twice")


def test_a_name_that_is_no_utf8_is_escaped_in_problems(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"")
    reading = read_file(path, name="caf\udce9")
    assert only_problem(reading)[2] == "caf\\udce9 is empty"
