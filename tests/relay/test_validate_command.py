"""`relay validate`: what a program gets to know, and what a person reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from control_planes import Relay

TURNS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
PIPELINE = """
name: chats
model: {source: tiny, context: 64}
rounds: [{optimize: {algorithm: auto}}]
"""


def chats(path: str, count: int, *, label: bool | None = None) -> None:
    records = [
        {"messages": [{"role": "user", "content": f"question {n}"}, TURNS[1]]} for n in range(count)
    ]
    told = records if label is None else [{**one, "label": label} for one in records]
    Path(path).write_text("".join(json.dumps(one) + "\n" for one in told))


def test_json_says_what_would_be_trained_on_and_why(relay: Relay) -> None:
    chats("chats.jsonl", 60)
    ended = relay("validate", "chats.jsonl", "-o", "json")
    found = ended.json
    assert (ended.code, found["ok"], found["format"]) == (0, True, "openai_chat")
    assert (found["records"], found["usable"], found["rejected"]) == (60, 60, 0)
    assert found["kind"] == "labels"
    assert "60 good, 0 bad" in found["why"]
    assert found["labels"]["good"] == 60
    assert 0 < found["labels"]["held_out"] < 60
    assert found["tokens"] > 60
    assert found["cut_share"] is None
    assert found["problems"] == []


def test_problems_are_grouped_with_line_field_problem_and_remedy(relay: Relay) -> None:
    chats("chats.jsonl", 3)
    with Path("chats.jsonl").open("a") as file:
        file.writelines(json.dumps({"messages": TURNS[:1]}) + "\n" for _ in range(40))
    found = relay("validate", "chats.jsonl", "-o", "json").json
    assert (found["records"], found["usable"], found["problem_count"]) == (43, 3, 40)
    (problem,) = found["problems"]
    assert problem["line"] == 4
    assert problem["count"] == 40
    assert problem["field"] == "messages"
    assert problem["problem"] == "holds no turn by the assistant"
    assert problem["remedy"]


def test_a_pipeline_s_context_gives_the_share_that_is_cut(relay: Relay) -> None:
    chats("chats.jsonl", 30)
    long = {"messages": [{"role": "user", "content": "word " * 500}, TURNS[1]]}
    with Path("chats.jsonl").open("a") as file:
        file.writelines(json.dumps(long) + "\n" for _ in range(10))
    Path("pipeline.yaml").write_text(PIPELINE)
    found = relay("validate", "chats.jsonl", "--pipeline", "pipeline.yaml", "-o", "json").json
    assert found["cut_share"] == 0.25
    drawn = relay("validate", "chats.jsonl", "--pipeline", "pipeline.yaml").out
    assert "the context cuts 25% of the records" in drawn


def test_a_pipeline_s_file_that_is_none_is_told_in_json_too(relay: Relay) -> None:
    chats("chats.jsonl", 3)
    Path("bad.yaml").write_text("name: x\nrounds: []\nsurprise: 1\n")
    ended = relay("validate", "chats.jsonl", "--pipeline", "bad.yaml", "-o", "json")
    assert ended.code == 1
    assert ended.json["ok"] is False
    assert ended.json["reason"] == "bad.yaml is no pipeline"
    assert {one["field"] for one in ended.json["pipeline_problems"]} >= {"surprise"}
    assert all(one["line"] for one in ended.json["pipeline_problems"])
    said = relay("validate", "chats.jsonl", "--pipeline", "bad.yaml")
    assert said.code == 1
    assert "bad.yaml:3:1: surprise" in said.err


def test_what_would_be_learnt_is_drawn(relay: Relay) -> None:
    chats("chats.jsonl", 40, label=False)
    drawn = relay("validate", "chats.jsonl").out
    assert "0 good and 40 bad" in drawn
    assert "about" in drawn
    assert "tokens" in drawn


@pytest.mark.parametrize("algorithm", ["kto", "sft"])
def test_what_a_round_would_lack_is_told_before_it_is_dropped(relay: Relay, algorithm: str) -> None:
    chats("bad.jsonl", 60, label=False)
    Path("pipeline.yaml").write_text(PIPELINE.replace("auto", algorithm))
    ended = relay("validate", "bad.jsonl", "--pipeline", "pipeline.yaml", "-o", "json")
    assert (ended.code, ended.json["ok"]) == (1, False)
    assert f"a round learns by {algorithm}" in ended.json["reason"]
    assert "good" in ended.json["reason"]


def test_what_is_no_file_is_said_at_once(relay: Relay) -> None:
    os.mkfifo("pipe")
    ended = relay("validate", "pipe")
    assert ended.code == 2
    assert "neither a file nor a folder" in ended.err
