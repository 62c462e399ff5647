"""Files as people publish them; skipped where they are not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajectories.reading import read_file

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real files is absent")


def test_all_pairs_of_a_real_sharegpt_file_are_usable() -> None:
    reading = read_file(DATA / "dpo_en_demo.json", name="dpo_en_demo.json")
    assert (reading.format, reading.records, reading.usable) == ("sharegpt_pairs", 299, 299)
    assert reading.problems == ()


@pytest.mark.parametrize(
    ("name", "records", "words"),
    [
        ("kto_en_demo.json", 300, "unpaired feedback"),
        ("glaive_toolcall_en_demo.json", 300, "single conversations"),
        ("reason_tool_use_demo_50.jsonl", 50, "single conversations"),
        ("v1_dpo_demo.jsonl", 10, "chosen_messages and rejected_messages"),
        ("mllm_demo.json", 6, "single conversations"),
    ],
)
def test_a_real_file_of_another_kind_is_refused_by_what_it_is(
    name: str, records: int, words: str
) -> None:
    reading = read_file(DATA / name, name=name)
    assert (reading.format, reading.records, reading.usable) == ("", records, 0)
    assert words in reading.problems[0].problem
