"""What of a record is understood, and the words for what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pair_files import lines, only_problem, openai, read, sharegpt, trl, turn


def says(role: str, value: Any) -> dict[str, Any]:
    return {"from": role, "value": value}


@pytest.mark.parametrize(
    ("record", "field", "words"),
    [
        (trl(rejected=None), "rejected", "is missing"),
        (trl(prompt=[]), "prompt", "holds no turn"),
        (trl(prompt=None, chosen="a", rejected="b"), "prompt", "is missing, and the answers"),
        (trl(prompt=7), "prompt", "is a number, not a list of messages"),
        (trl(prompt=[turn("user", " ")]), "prompt[0]", "is an empty turn"),
        (trl(prompt=[turn("user", "a"), turn("assistant", "b")]), "prompt[1]", "by the assistant"),
        (trl(prompt=[turn("system", "a")]), "prompt[0]", "by the system, not the user"),
        (
            trl(prompt=[turn("user", "a"), turn("system", "b"), turn("user", "c")]),
            "prompt[1]",
            "is a system turn after the first turn",
        ),
        (trl(prompt=[turn("narrator", "a")]), "prompt[0].role", "is 'narrator', a role"),
        (trl(prompt=[turn(["user"], "a")]), "prompt[0].role", "a role that is not known"),  # type: ignore[arg-type]
        (trl(prompt=[{"content": "a"}]), "prompt[0].role", "is missing"),
        (trl(prompt=[{"role": "user"}]), "prompt[0].content", "is missing"),
        (trl(prompt=["a"]), "prompt[0]", "is text, not a message"),
        (trl(prompt=[turn("user", None)]), "prompt[0].content", "is null, not text"),
        (trl(prompt=[turn("user", {"a": 1})]), "prompt[0].content", "is an object, not text"),
        (trl(prompt="a\x00b"), "prompt", "holds a NUL character"),
        (trl(prompt="a\ud83d"), "prompt", "holds half of a surrogate pair at character 2"),
        (trl(chosen="  \n"), "chosen", "is empty"),
        (trl(rejected=[]), "rejected", "holds no answer"),
        (trl(chosen=True), "chosen", "is true or false, not a list"),
        (trl(chosen="a b", rejected=" a\nb "), "rejected", "differ in white space only"),
        (trl(chosen=[turn("user", "a")]), "chosen", "begins with a turn by the user"),
        (
            trl(chosen=[turn("assistant", "a"), turn("user", "b")]),
            "chosen",
            "ends with a turn by the user",
        ),
        (trl(chosen=[turn("system", "a")]), "chosen", "holds a system turn"),
        (
            trl(chosen=[{"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}]),
            "chosen[0].tool_calls[0].name",
            "is null",
        ),
        (openai(input=None), "input", "is missing"),
        (openai(input=[turn("user", "a")]), "input", "is a list without messages"),
        (openai(non_preferred_output=None), "non_preferred_output", "is missing"),
        (openai(input={"messages": [], "tools": 3}), "input.tools", "is a number, not a list"),
        (trl(tools=3), "tools", "is a number, not a list of functions"),
        (trl(tools="[{"), "tools", "is text that is not JSON"),
        (openai(input={"messages": []}), "input.messages", "holds no turn"),
        (openai(preferred_output=[]), "preferred_output", "holds no answer"),
        (
            openai(preferred_output=[turn("assistant", [{"type": "image_url"}])]),
            "turn 2",
            "shows an image that is not given",
        ),
        (
            openai(preferred_output=[turn("assistant", [{"type": "text"}])]),
            "preferred_output[0].content[0]",
            "holds null where its text belongs",
        ),
        (sharegpt(chosen=None), "chosen", "is missing"),
        (sharegpt(conversations=None), "conversations", "is missing"),
        (sharegpt(system=3), "system", "is a number, not text"),
        (sharegpt(conversations=[]), "conversations", "holds no turn"),
        (sharegpt(chosen=says("gpt", "")), "chosen", "is empty"),
        (sharegpt(chosen=says("human", "a")), "chosen", "begins with a turn by the user"),
        (
            sharegpt(conversations=[says("human", "a"), says("function_call", "f()")]),
            "conversations[1].value",
            "is a call that is not JSON",
        ),
        (sharegpt(chosen=says("alien", "a")), "chosen.from", "is 'alien', a role"),
    ],
)
def test_a_record_that_is_not_understood_is_rejected_by_field_and_reason(
    tmp_path: Path, record: dict[str, Any], field: str, words: str
) -> None:
    reading = read(tmp_path, lines(record))
    assert (reading.records, reading.usable) == (1, 0)
    line, found, problem = only_problem(reading)
    assert (line, found) == (1, field)
    assert words in problem


def test_text_parts_are_joined_as_they_stand(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "output_text", "text": "two"}, " three"]
    reading = read(tmp_path, lines(openai(preferred_output=[turn("assistant", parts)])))
    assert reading.pairs[0].chosen[0].content == "one two three"


def test_text_is_kept_to_the_character(tmp_path: Path) -> None:
    text = "  Grüße 👋\r\n\t\u2028end "
    reading = read(tmp_path, lines(trl(chosen=text)))
    assert reading.pairs[0].chosen[0].content == text


def test_plain_text_is_a_user_and_an_assistant(tmp_path: Path) -> None:
    (pair,) = read(tmp_path, lines(trl(prompt="a", chosen="b", rejected="c"))).pairs
    assert [turn.role for turn in (*pair.prompt, *pair.chosen)] == ["user", "assistant"]


def test_a_prompt_repeated_in_both_answers_counts_once(tmp_path: Path) -> None:
    ask = turn("user", "a")
    record = trl(
        prompt="a", chosen=[ask, turn("assistant", "b")], rejected=[ask, turn("assistant", "c")]
    )
    (pair,) = read(tmp_path, lines(record)).pairs
    assert [message.content for message in (*pair.prompt, *pair.chosen)] == ["a", "b"]


def test_a_prompt_repeated_in_one_answer_only_is_refused(tmp_path: Path) -> None:
    record = trl(prompt="a", chosen=[turn("user", "a"), turn("assistant", "b")], rejected="c")
    assert only_problem(read(tmp_path, lines(record)))[1] == "chosen"


def test_an_implicit_prompt_is_the_longest_common_beginning(tmp_path: Path) -> None:
    shared = [turn("user", "a"), turn("assistant", "b"), turn("user", "c")]
    record = {
        "chosen": [*shared, turn("assistant", "d")],
        "rejected": [*shared, turn("assistant", "e")],
    }
    (pair,) = read(tmp_path, lines(record)).pairs
    assert [message.content for message in pair.prompt] == ["a", "b", "c"]
    assert pair.chosen[0].content == "d"


def test_an_implicit_prompt_with_equal_answers_is_refused_as_equal(tmp_path: Path) -> None:
    whole = [turn("user", "a"), turn("assistant", "b")]
    reading = read(tmp_path, lines({"chosen": whole, "rejected": whole}))
    assert only_problem(reading) == (1, "rejected", "chosen and rejected are equal")


def test_a_sharegpt_system_text_becomes_the_first_turn(tmp_path: Path) -> None:
    content = lines(sharegpt(system="be kind"), sharegpt(system=""), sharegpt(system=None))
    pairs = read(tmp_path, content).pairs
    assert [pair.prompt[0].role for pair in pairs] == ["system", "user", "user"]


def test_a_foreign_value_is_quoted_short_and_safe(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(trl(prompt=[turn("x\ud800\n" * 1000, "a")])))
    (problem,) = reading.problems
    assert len(problem.problem) < 100
    assert "\n" not in problem.problem
    problem.model_dump_json().encode()
