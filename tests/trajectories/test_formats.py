"""Every form that people keep: recognised, read, and nothing of it lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from form_files import (
    BUILDERS,
    call,
    chat,
    completion,
    nova,
    nova_pair,
    nova_prompt,
    rollout,
    says,
    shared,
    skyrl,
    transcript,
    typed,
    verl,
)
from pair_files import lines, only_problem, read, trl, turn
from single_records import pair, trajectory

from contracts.pipeline import DataRules
from trajectories.formats import FORMATS
from trajectories.message import Message, ToolCall

PAIRS = {
    *("openai_pairs", "sharegpt_pairs", "trl_pairs", "hh_transcripts", "message_pairs", "nova_dpo")
}
CALL = ToolCall(id="c1", name="find", arguments='{"q": 1}')


def test_every_format_has_a_builder_here_and_can_be_set_in_a_pipeline() -> None:
    settable = set(get_args(DataRules.model_fields["format"].annotation)) - {"auto"}
    assert set(BUILDERS) == set(FORMATS) == settable


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("array", [False, True])
def test_it_is_recognised_by_content_and_every_record_is_usable(
    tmp_path: Path, name: str, *, array: bool
) -> None:
    content = lines(*(BUILDERS[name](number) for number in range(5)))
    if array:
        content = b"[" + content.strip().replace(b"\n", b",") + b"]"
    reading = read(tmp_path, content)
    assert (reading.format, reading.records, reading.usable) == (name, 5, 5), reading.problems
    assert f"5 of the first 5 records have {FORMATS[name].marks}" in reading.evidence
    assert len(reading.pairs) == (5 if name in PAIRS else 0)
    assert len({one.id for one in (*reading.pairs, *reading.trajectories)}) == 5


@pytest.mark.parametrize("name", BUILDERS)
def test_only_one_format_fits_a_record(name: str) -> None:
    record = BUILDERS[name]()
    assert [form.name for form in FORMATS.values() if form.fits(record)] == [name]


@pytest.mark.parametrize("name", sorted(BUILDERS.keys() - {"trl_prompts"}))
def test_unknown_fields_are_kept_as_metadata(tmp_path: Path, name: str) -> None:
    record = BUILDERS[name](0, origin={"where": ["here", 1.5, None]})
    reading = read(tmp_path, lines(record))
    (one,) = (*reading.pairs, *reading.trajectories)
    assert one.metadata["origin"] == {"where": ["here", 1.5, None]}


def test_a_chat_keeps_its_calls_with_their_ids_and_arguments_and_its_tools(tmp_path: Path) -> None:
    one = trajectory(tmp_path, chat(3))
    assert one.messages[2] == Message(role="assistant", tool_calls=(CALL,))
    assert one.messages[3] == Message(role="tool", content="found", tool_call_id="c1")
    assert '"name":"find"' in one.tools
    assert (one.reward, one.label) == (None, None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('{"q": 1}', '{"q": 1}'),
        ({"q": 1, "a": "ü"}, '{"a":"ü","q":1}'),
        ("not json", "not json"),
        (None, "{}"),
        ({}, "{}"),
    ],
)
def test_arguments_are_kept_as_text_or_made_canonical(
    tmp_path: Path, given: Any, kept: str
) -> None:
    turns = [turn("user", "a"), {"role": "assistant", "tool_calls": [call(arguments=given)]}]
    one = trajectory(tmp_path, {"messages": turns})
    assert one.messages[1].tool_calls[0].arguments == kept


def test_a_weight_of_nothing_is_not_learnt_and_others_are_kept_beside(tmp_path: Path) -> None:
    turns = [
        turn("user", "a"),
        {**turn("assistant", "b"), "weight": 0},
        {**turn("user", "c"), "weight": 0},
        {**turn("assistant", "d"), "weight": 0.5},
        turn("user", "e"),
        {**turn("assistant", "f"), "weight": 1},
    ]
    one = trajectory(tmp_path, {"messages": turns})
    assert [message.learnt for message in one.messages] == [True, False, True, True, True, True]
    assert one.metadata == {"turn_fields": {"messages[3]": {"weight": 0.5}}}


def test_what_is_said_of_turns_and_parts_beyond_what_is_known_is_kept(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "a", "cache_control": {"type": "x"}}]
    turns = [
        {**turn("user", parts), "at": 3, "audio": None},
        {**turn("assistant", "b"), "name": "ann", "reasoning_content": "hm", "logprobs": [0.5]},
    ]
    one = trajectory(tmp_path, {"messages": turns})
    assert one.messages[1] == Message(role="assistant", content="b", name="ann", reasoning="hm")
    assert one.metadata["turn_fields"] == {
        "messages[0]": {"at": 3},
        "messages[0].content[0]": {"cache_control": {"type": "x"}},
        "messages[1]": {"logprobs": [0.5]},
    }


def test_rewards_of_turns_are_kept_and_sum_to_an_episode_s_that_has_none(tmp_path: Path) -> None:
    turns = [
        turn("user", "a"),
        {**turn("assistant", "b"), "reward": 0.25},
        turn("user", "c"),
        {**turn("assistant", "d"), "reward": -1},
    ]
    one = trajectory(tmp_path, {"messages": turns})
    assert [message.reward for message in one.messages] == [None, 0.25, None, -1.0]
    assert one.reward == -0.75
    told = trajectory(tmp_path, {"messages": turns, "reward": 2, "task": "t"})
    assert told.reward == 2.0


def test_functions_of_the_first_api_are_calls_too(tmp_path: Path) -> None:
    turns = [
        turn("user", "a"),
        {**turn("assistant", None), "function_call": {"name": "find", "arguments": "{}"}},
        {**turn("function", "found"), "name": "find"},
        turn("assistant", "b"),
    ]
    one = trajectory(tmp_path, {"messages": turns, "functions": [{"name": "find"}]})
    assert one.messages[1].tool_calls == (ToolCall(name="find", arguments="{}"),)
    assert one.messages[2] == Message(role="tool", content="found", name="find")
    assert one.tools == '[{"name":"find"}]'


def test_a_refusal_is_what_was_said(tmp_path: Path) -> None:
    turns = [turn("user", "a"), {"role": "assistant", "content": None, "refusal": "no"}]
    assert trajectory(tmp_path, {"messages": turns}).messages[1].content == "no"


def test_anthropic_s_parts_are_calls_and_results(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "u", "name": "find", "input": {"q": 1}}
    result = {"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": "x"}]}
    turns = [
        turn("user", "a"),
        turn("assistant", [{"type": "thinking", "thinking": "hm"}, use]),
        turn("user", [result, {"type": "text", "text": "go on"}]),
        turn("assistant", "b"),
    ]
    one = trajectory(tmp_path, {"messages": turns})
    assert [message.role for message in one.messages] == [
        *("user", "assistant", "tool", "user", "assistant"),
    ]
    assert one.messages[1].reasoning == "hm"
    assert one.messages[2] == Message(role="tool", content="x", tool_call_id="u")


def test_sharegpt_s_tool_turns_system_and_tools_are_kept(tmp_path: Path) -> None:
    one = trajectory(tmp_path, shared(1, label=False))
    assert [message.role for message in one.messages] == [
        *("system", "user", "assistant", "tool", "assistant"),
    ]
    assert one.messages[2].tool_calls == (ToolCall(name="find", arguments='{"q":1}'),)
    assert one.tools == '[{"name":"find"}]'
    assert one.label is False


@pytest.mark.parametrize(("given", "label"), [(True, True), (False, False), (1, True), (0, False)])
@pytest.mark.parametrize("build", [chat, shared, completion])
def test_a_label_is_kept(tmp_path: Path, build: Any, given: Any, label: Any) -> None:
    assert trajectory(tmp_path, build(label=given)).label is label


@pytest.mark.parametrize("given", ["good", 2, 0.5, []])
def test_a_label_that_is_neither_is_refused(tmp_path: Path, given: Any) -> None:
    reading = read(tmp_path, lines(chat(label=given)))
    assert only_problem(reading)[1:] == ("label", only_problem(reading)[2])
    assert "not true or false" in only_problem(reading)[2]


def test_a_transcript_becomes_turns_and_the_prompt_is_what_both_share(tmp_path: Path) -> None:
    one = pair(tmp_path, transcript(1))
    assert [(turn.role, turn.content) for turn in one.prompt] == [
        ("user", "question 1"),
        ("assistant", "yes?"),
        ("user", "really"),
    ]
    assert (one.chosen[0].content, one.rejected[0].content) == ("good 1", "bad 1")


def test_a_transcript_may_hold_blank_lines_and_part_early(tmp_path: Path) -> None:
    record = {
        "chosen": "\n\nHuman: a\n\nAssistant: b\n\nstill b: Human: no\n\nHuman: c\n\nAssistant: d",
        "rejected": "\n\nHuman: a\n\nAssistant: x",
    }
    one = pair(tmp_path, record)
    assert [turn.content for turn in one.chosen] == ["b\n\nstill b: Human: no", "c", "d"]


def test_typed_pairs_keep_reasoning(tmp_path: Path) -> None:
    one = pair(tmp_path, typed(1))
    assert one.chosen == (Message(role="assistant", content="good 1", reasoning="hm"),)


@pytest.mark.parametrize(
    "record",
    [
        typed(rejected_messages=[turn("user", "other"), turn("assistant", "b")]),
        transcript(rejected="\n\nHuman: other\n\nAssistant: b"),
        {
            "chosen": [turn("user", "a"), turn("assistant", "b")],
            "rejected": [turn("user", "x"), turn("assistant", "c")],
        },
        {
            "chosen": [*(t := [turn("user", "a"), turn("assistant", "b")]), turn("user", "c")],
            "rejected": [*t, turn("user", "x"), turn("assistant", "d")],
        },
    ],
)
def test_sides_that_answer_different_prompts_are_refused(tmp_path: Path, record: Any) -> None:
    assert "the two answer different prompts" in only_problem(read(tmp_path, lines(record)))[2]


def test_scores_that_say_the_opposite_of_the_sides_are_refused(tmp_path: Path) -> None:
    good = trl(1, score_chosen=2, score_rejected=1.5)
    tied = trl(2, score_chosen=2, score_rejected=2)
    bad = trl(3, score_chosen=1, score_rejected=5)
    reading = read(tmp_path, lines(good, tied, bad))
    assert reading.pairs[0].metadata == {"score_chosen": 2, "score_rejected": 1.5}
    assert only_problem(reading) == (3, "score_chosen", "is 1, below score_rejected 5")


def test_pairs_keep_tools_and_calls(tmp_path: Path) -> None:
    calling = [{"role": "assistant", "content": None, "tool_calls": [call()]}]
    one = pair(tmp_path, trl(1, chosen=calling, tools=[{"name": "find"}]))
    assert one.chosen[0].tool_calls == (CALL,)
    assert one.tools == '[{"name":"find"}]'


def test_sides_that_differ_in_a_call_s_arguments_only_differ(tmp_path: Path) -> None:
    def calling(arguments: str) -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": None, "tool_calls": [call(arguments=arguments)]}]

    assert pair(tmp_path, trl(1, chosen=calling("1"), rejected=calling("2")))
    same = read(tmp_path, lines(trl(1, chosen=calling("1"), rejected=calling("1"))))
    assert "are equal" in only_problem(same)[2]


def test_nova_s_parts_become_turns_calls_results_and_reasoning(tmp_path: Path) -> None:
    one = trajectory(tmp_path, nova(1, toolConfig={"tools": [{"toolSpec": {"name": "find"}}]}))
    assert [message.role for message in one.messages] == [
        *("system", "user", "assistant", "tool", "assistant"),
    ]
    assert one.messages[2] == Message(
        role="assistant",
        reasoning="hm",
        tool_calls=(ToolCall(id="t1", name="find", arguments='{"q":1}'),),
    )
    assert one.messages[3] == Message(role="tool", content='found{"n": 1}', tool_call_id="t1")
    assert one.tools == '[{"toolSpec":{"name":"find"}}]'


def test_nova_s_images_are_references_and_its_videos_are_refused(tmp_path: Path) -> None:
    source = {"s3Location": {"uri": "s3://b/k.png", "bucketOwner": "1"}}
    image = {"image": {"format": "png", "source": source}}
    turns = [turn("user", [image, {"text": "what?"}]), turn("assistant", [{"text": "a cat"}])]
    one = trajectory(tmp_path, nova(messages=turns))
    assert one.messages[1].images == ("s3://b/k.png",)
    turns[0]["content"][0] = {"video": {"format": "mp4", "source": source}}
    reading = read(tmp_path, lines(nova(messages=turns)))
    assert only_problem(reading)[1:] == (
        "messages[0].content[0]",
        "is a video, a sound or a document",
    )


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["preferred", "preferred"], "is a second one that is preferred"),
        (["preferred"], "has no candidate that is non-preferred"),
        (["preferred", "worse"], "has the preferenceLabel 'worse'"),
        ([], "has no candidate that is preferred"),
    ],
)
def test_nova_s_candidates_must_be_one_of_each(
    tmp_path: Path, labels: list[str], words: str
) -> None:
    record = nova_pair()
    record["messages"][1]["candidates"] = [
        {"content": [{"text": str(place)}], "preferenceLabel": label}
        for place, label in enumerate(labels)
    ]
    assert words in only_problem(read(tmp_path, lines(record)))[2]


@pytest.mark.parametrize("build", [verl, skyrl, nova_prompt])
def test_prompts_are_records_without_an_answer_that_keep_what_judges_them(
    tmp_path: Path, build: Any
) -> None:
    one = trajectory(tmp_path, build(1))
    assert not one.play
    assert one.messages[-1].content == "question 1"
    assert {"reward_model", "reward_spec", "reference_answer"} & one.metadata.keys()


def test_nova_s_multi_turn_prompts_are_read_from_their_metadata(tmp_path: Path) -> None:
    record = {"id": "a", "metadata": {"prompt": "question", "answer": "b", "info": {"x": 1}}}
    one = trajectory(tmp_path, record)
    assert [message.content for message in one.messages] == ["question"]
    assert one.metadata == {"id": "a", "metadata": {"answer": "b", "info": {"x": 1}}}


def test_an_example_within_a_prompt_is_given_not_learnt(tmp_path: Path) -> None:
    prompt = [turn("user", "a"), turn("assistant", "b"), turn("user", "c")]
    for record in (verl(prompt=prompt), completion(prompt=prompt), rollout(prompt=prompt)):
        one = trajectory(tmp_path, record)
        assert one.messages[1].learnt is False
    reading = read(tmp_path, lines(verl(prompt=prompt[:2])))
    assert only_problem(reading)[1:] == ("prompt[1]", "ends the prompt and is the assistant's")


def test_a_prompt_is_one_task_whatever_holds_it(tmp_path: Path) -> None:
    asked = [turn("user", "question 1")]
    answered = {"messages": [*asked, turn("assistant", "x")]}
    tasks = {
        trajectory(tmp_path, record).task
        for record in (answered, completion(1), verl(prompt=asked), {"prompt": "question 1"})
    }
    assert tasks == {pair(tmp_path, trl(1)).prompt_digest}


@pytest.mark.parametrize("depth", [65, 700, 985, 100_000])
def test_calls_and_tools_as_text_may_nest_as_deep_as_a_file_s_json(
    tmp_path: Path, depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    turns = [says("human", "a"), says("function_call", f'{{"name": "f", "arguments": {deep}}}')]
    for record in (
        {"conversations": turns},
        shared(tools=f'[{{"name": "f", "parameters": {deep}}}]'),
    ):
        _, field, problem = only_problem(read(tmp_path, lines(record)))
        assert field in {"conversations[1].value", "tools"}
        assert problem == "is nested deeper than 64"
    assert read(tmp_path, lines(shared(tools=deep[depth - 64 : depth + 64]))).problems == ()


def test_a_rollout_s_task_is_its_example_within_its_environment(tmp_path: Path) -> None:
    assert trajectory(tmp_path, rollout(7)).task == "math/7"
    assert trajectory(tmp_path, rollout(7, task=None)).task == "7"
    one = trajectory(tmp_path, rollout(7, trajectory_id="t9"))
    assert (one.trial, one.reward) == ("t9", 0.5)
    assert one.metadata["metrics"] == {"format": 1.0}
    unjudged = read(tmp_path, lines(rollout(reward=None)))
    assert only_problem(unjudged) == (1, "reward", "is missing")
