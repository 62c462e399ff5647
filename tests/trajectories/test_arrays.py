"""Arrays, and objects over several lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pair_files import lines, only_problem, read, trl


def array(*records: object, indent: int | None = None) -> bytes:
    return json.dumps(list(records), indent=indent).encode()


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["f.json", "f.jsonl"])
def test_an_array_is_recognised_by_content(tmp_path: Path, indent: int | None, name: str) -> None:
    reading = read(tmp_path, array(trl(1), trl(2), indent=indent), name=name)
    assert reading.usable == 2
    assert reading.evidence.startswith("a JSON array")


def test_a_problem_in_an_array_names_the_records_place(tmp_path: Path) -> None:
    reading = read(tmp_path, array(trl(1), trl(2), trl(3, chosen="")))
    assert only_problem(reading) == (3, "chosen", "is empty")


def test_a_defective_record_costs_only_itself(tmp_path: Path) -> None:
    content = array(trl(1), {"score": 0}, trl(2)).replace(b"0}", b"NaN}")
    reading = read(tmp_path, content)
    assert (reading.records, reading.usable) == (3, 2)
    assert only_problem(reading) == (2, "record", "holds NaN, which is not JSON")


@pytest.mark.parametrize("cut", [2, 30, 100])
def test_an_array_cut_off_keeps_the_records_before(tmp_path: Path, cut: int) -> None:
    reading = read(tmp_path, array(trl(1), trl(2), trl(3))[:-cut])
    assert (reading.records, reading.usable) == (3, 2)
    line, _, words = only_problem(reading)
    assert (line, words) == (3, "ends in the middle (nothing after it could be read)")


def test_an_array_that_is_not_closed_keeps_its_records_and_says_so(tmp_path: Path) -> None:
    reading = read(tmp_path, array(trl(1), trl(2))[:-1])
    assert (reading.records, reading.usable) == (2, 2)
    words = "f.jsonl ends after record 2, before the array is closed"
    assert only_problem(reading) == (0, "file", words)


def test_a_missing_comma_stops_the_reading_there(tmp_path: Path) -> None:
    content = array(trl(1), trl(2), trl(3)).replace(b'}, {"prompt', b'} {"prompt', 1)
    reading = read(tmp_path, content)
    assert reading.usable == reading.records == 1
    assert only_problem(reading)[2].startswith("f.jsonl has no comma after record 1")


def test_a_comma_before_the_end_is_a_problem_of_the_file_and_costs_no_record(
    tmp_path: Path,
) -> None:
    reading = read(tmp_path, array(trl(1))[:-1] + b" , ]")
    assert (reading.records, reading.usable) == (1, 1)
    assert only_problem(reading) == (0, "file", "f.jsonl has a comma after its last record")


def test_text_after_the_array_is_a_problem_of_the_file(tmp_path: Path) -> None:
    reading = read(tmp_path, array(trl(1)) + b"\n" + array(trl(2)))
    assert reading.usable == reading.records == 1
    assert "goes on after the array's end" in only_problem(reading)[2]


@pytest.mark.parametrize("bad", [b"\xff", b"\x00"])
def test_a_byte_that_is_no_text_ends_an_array_there(tmp_path: Path, bad: bytes) -> None:
    content = array(trl(1), trl(2), trl(3)).replace(b"good 2", b"good " + bad)
    reading = read(tmp_path, content)
    assert (reading.records, reading.usable) == (2, 1)
    line, _, words = only_problem(reading)
    assert line == 2
    assert f"at byte {content.index(bad) + 1}" in words
    assert words.endswith("(nothing after it could be read)")


def test_an_array_nested_too_deeply_is_refused_without_recursion(tmp_path: Path) -> None:
    reading = read(tmp_path, b"[" * 1_000_000)
    assert "is nested deeper than" in only_problem(reading)[2]


def test_objects_over_several_lines_are_read_one_after_another(tmp_path: Path) -> None:
    content = b"\n".join(json.dumps(trl(n), indent=2).encode() for n in range(3))
    reading = read(tmp_path, content, name="f.json")
    assert (reading.records, reading.usable) == (3, 3)
    assert reading.evidence.startswith("JSON objects spread over several lines")


def test_an_object_over_several_lines_cut_off_keeps_those_before(tmp_path: Path) -> None:
    content = b"\n".join(json.dumps(trl(n), indent=2).encode() for n in range(3))
    reading = read(tmp_path, content[:-20])
    assert (reading.records, reading.usable) == (3, 2)
    assert only_problem(reading)[0] == 3


def test_one_record_alone_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(trl()).encode(), name="f.json").usable == 1
    assert read(tmp_path, json.dumps(trl(), indent=4).encode(), name="f.json").usable == 1


def test_lines_in_a_file_called_json_are_lines(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1), trl(2)), name="f.json")
    assert reading.evidence.startswith("one JSON record a line")
