"""Files as people publish them: what each is taken for and would train; skipped where absent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from whole_files import Reading, read_file

from contracts.pipeline import DataRules
from trajectories.validating import validate

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real files is absent")


class Expected(NamedTuple):
    """The table of docs/formats.md."""

    format: str
    records: int
    kind: str
    pairs: int
    good: int
    bad: int


FILES = {
    "dpo_en_demo.json": Expected("sharegpt_pairs", 299, "pairs", 294, 294, 294),
    "glaive_toolcall_en_demo.json": Expected("sharegpt", 300, "labels", 0, 265, 0),
    "kto_en_demo.json": Expected("openai_chat", 300, "labels", 0, 150, 150),
    "mllm_demo.json": Expected("openai_chat", 6, "nothing", 0, 0, 0),
    "reason_tool_use_demo_50.jsonl": Expected("openai_chat", 50, "labels", 0, 50, 0),
    "tau_airline_60.json": Expected("episode_logs", 60, "labels", 0, 23, 37),
    "v1_dpo_demo.jsonl": Expected("message_pairs", 10, "labels", 10, 10, 10),
}


@pytest.mark.parametrize("name", FILES)
def test_every_record_is_usable_and_it_is_said_what_would_be_learnt(name: str) -> None:
    expected = FILES[name]
    found = validate(DATA / name, name=name, rules=DataRules(), plays=False)
    assert (found.format, found.records, found.usable) == (expected[0], expected[1], expected[1])
    assert found.problems == ()
    assert found.kind == expected.kind
    assert found.training + found.held_out == expected.pairs
    assert (found.labels.good, found.labels.bad) == (expected.good, expected.bad)
    assert found.ok is (expected.kind != "nothing"), found.reason


@pytest.mark.parametrize("name", FILES)
def test_the_documented_table_says_the_same(name: str) -> None:
    expected = FILES[name]
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == [f"`{expected.format}`", str(expected.records), str(expected.records)]
    counts = f"{expected.pairs} pairs, {expected.good} good, {expected.bad} bad"
    assert cells[4].startswith(counts), cells[4]


def test_a_file_of_images_is_read_and_says_why_nothing_is_learnt_from_it() -> None:
    found = validate(DATA / "mllm_demo.json", name="mllm_demo.json", rules=DataRules())
    assert (found.usable, found.ok) == (6, False)
    assert "they show images, which a policy of text does not see" in found.reason


def reading(name: str) -> Reading:
    return read_file(DATA / name, name=name)


def test_tool_turns_of_a_real_sharegpt_file_become_calls_and_their_answers() -> None:
    turns = [
        m for one in reading("glaive_toolcall_en_demo.json").trajectories for m in one.messages
    ]
    assert sum(len(turn.tool_calls) for turn in turns) == 211
    assert sum(turn.role == "tool" for turn in turns) == 211


def test_typed_parts_of_a_real_file_become_reasoning_text_and_calls() -> None:
    found = reading("reason_tool_use_demo_50.jsonl").trajectories
    turns = [turn for one in found for turn in one.messages]
    assert sum(bool(turn.reasoning) for turn in turns) == 112
    assert sum(len(turn.tool_calls) for turn in turns) == 68
    assert sum(bool(one.tools) for one in found) == 48


def test_images_of_a_real_file_are_at_their_turns_and_weights_decide_what_is_learnt() -> None:
    first = reading("mllm_demo.json").trajectories[0]
    assert [turn.images for turn in first.messages] == [
        ("mllm_demo_data/1.jpg",),
        (),
        ("mllm_demo_data/1.jpg",),
        (),
    ]
    assert all(pair.chosen[0].learnt for pair in reading("v1_dpo_demo.jsonl").pairs)
