from __future__ import annotations

from pathlib import Path

import pytest
from pair_files import lines, only_problem, openai, read, sharegpt, trl, turn
from whole_files import read_file

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.result import ObjectReport
from trajectories.reading import SAMPLE_ITEMS, Reader

BUILDERS = {"openai_pairs": openai, "sharegpt_pairs": sharegpt, "trl_pairs": trl}


@pytest.mark.parametrize("format_", BUILDERS)
def test_every_format_is_detected_by_content_and_says_by_what(tmp_path: Path, format_: str) -> None:
    reading = read(tmp_path, lines(*(BUILDERS[format_](n) for n in range(3))))
    assert (reading.format, reading.records, reading.usable) == (format_, 3, 3)
    assert "3 of the first 3 records have" in reading.evidence
    assert reading.pairs[1].prompt[0].content == "question 1"
    assert reading.pairs[1].chosen[0].content == "good 1"
    assert reading.pairs[1].rejected[0].content == "bad 1"
    assert [turn.role for turn in reading.pairs[1].prompt] == ["user"]
    assert [turn.role for turn in reading.pairs[1].chosen] == ["assistant"]


def test_the_three_formats_of_one_pair_give_the_same_pair(tmp_path: Path) -> None:
    found = [read(tmp_path, lines(build(7))).pairs for build in BUILDERS.values()]
    ids = [pair.id for (pair,) in found]
    assert ids[0] == ids[1] == ids[2]


def test_a_pair_with_equal_sides_is_rejected_and_the_rest_is_usable(tmp_path: Path) -> None:
    equal = trl(chosen="same", rejected="same")
    reading = read(tmp_path, lines(trl(1), equal, trl(2)))
    assert (reading.records, reading.usable, reading.rejected) == (3, 2, 1)
    assert only_problem(reading) == (2, "rejected", "chosen and rejected are equal")


def test_a_file_of_equal_sides_has_no_usable_pair(tmp_path: Path) -> None:
    equal = trl(chosen="same", rejected="same")
    reading = read(tmp_path, lines(*[equal] * 30))
    assert (reading.records, reading.usable, reading.rejected) == (30, 0, 30)
    assert reading.problem_count == 30
    assert [(one.line, one.count) for one in reading.problems] == [(1, 30)]


def test_the_first_twenty_kinds_of_problems_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    words = [f"narrator {chr(ord('a') + kind)}" for kind in range(25)]
    records = [trl(prompt=[turn(word, "a")]) for word in words for _ in range(3)]
    reading = read(tmp_path, lines(*records))
    assert reading.problem_count == reading.rejected == 75
    assert len(reading.problems) == PROBLEMS_SHOWN_MAX
    assert {one.count for one in reading.problems} == {3}
    assert [one.line for one in reading.problems] == [1 + 3 * place for place in range(20)]


def test_a_record_of_another_format_is_named_as_such(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1), trl(2), openai(3)))
    line, _, words = only_problem(reading)
    assert (line, words) == (3, "looks like openai_pairs in a file taken for trl_pairs")


def test_a_set_format_is_held_to_whatever_the_file_looks_like(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1), trl(2)), format_="openai_pairs")
    assert (reading.format, reading.usable, reading.rejected) == ("openai_pairs", 0, 2)
    assert "set by the pipeline" in reading.evidence


def test_a_format_that_does_not_exist_is_an_error_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one of auto, openai_pairs"):
        read(tmp_path, lines(trl()), format_="alpaca")


@pytest.mark.parametrize("value", [[1], "text", 3, None, True])
def test_a_record_that_is_no_object_is_rejected(tmp_path: Path, value: object) -> None:
    reading = read(tmp_path, lines(trl(1), value, trl(2)))
    line, field, words = only_problem(reading)
    assert (line, field) == (2, "record")
    assert words.endswith("not an object")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"text": "a"}, "plain text"),
        ({"prompt": "a", "completions": ["b"], "labels": [True]}, "stepwise feedback"),
        ({"instruction": "a", "output": "b"}, "Alpaca"),
        ({"prompt": "a", "response": "b"}, "'prompt', 'response'"),
        ({"question": "a", "answer": "b"}, "'question', 'answer'"),
        ([1, 2], "a list, not an object"),
    ],
)
def test_records_of_no_known_form_are_counted_and_said_to_be_what_they_are(
    tmp_path: Path, record: object, words: str
) -> None:
    reading = read(tmp_path, b"\n[" + lines(record).strip() + b"," + lines(record) + b"]")
    assert reading.records == 2
    assert reading.format == ""
    assert reading.usable == 0
    assert reading.rejected == reading.records
    assert any(words in problem.problem for problem in reading.problems)


@pytest.mark.parametrize("field", ["videos", "audios"])
def test_a_record_with_other_media_than_images_is_rejected_by_that_field(
    tmp_path: Path, field: str
) -> None:
    reading = read(tmp_path, lines(trl(1, **{field: ["x"]}), trl(2, **{field: []})))
    assert reading.usable == 1
    assert only_problem(reading) == (1, field, "is not empty")


def test_the_format_is_found_behind_many_broken_lines(tmp_path: Path) -> None:
    broken = [b"{" for _ in range(SAMPLE_ITEMS - 1)]
    reading = read(tmp_path, lines(*broken, trl(1), trl(2)))
    assert (reading.format, reading.usable) == ("trl_pairs", 2)
    assert reading.problem_count == reading.rejected == SAMPLE_ITEMS - 1


def test_a_reader_reports_itself_as_a_job_reports_an_object(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(lines(trl(1), b"{"))
    reader = Reader(path, name="f.jsonl")
    assert len(list(reader)) == 1
    report = reader.report(drop="d", key="incoming/p/f.jsonl", version_id="v")
    assert isinstance(report, ObjectReport)
    assert (report.records, report.usable, report.rejected) == (2, 1, 1)
    assert report.problems == reader.problems


def test_a_missing_file_is_the_callers_to_handle(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none", name="none")


def test_what_the_file_is_called_does_not_matter(tmp_path: Path) -> None:
    for name in ("f.json", "f.jsonl", "f", "f.csv"):
        assert read(tmp_path, lines(trl(1), trl(2)), name=name).usable == 2


def test_ids_differ_by_content_and_not_by_extra_fields(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(1), trl(1, score=3), trl(2), trl(1, chosen="other")))
    ids = [pair.id for pair in reading.pairs]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_a_conversation_keeps_its_turns_and_its_system_prompt(tmp_path: Path) -> None:
    prompt = [turn("developer", "be kind"), turn("user", "a"), turn("assistant", "b")]
    reading = read(tmp_path, lines(trl(prompt=[*prompt, turn("user", "c")])))
    roles = [message.role for message in reading.pairs[0].prompt]
    assert roles == ["system", "user", "assistant", "user"]
