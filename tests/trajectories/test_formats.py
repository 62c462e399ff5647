"""Every form that people keep: recognised, read, and nothing of it lost."""

from __future__ import annotations

import time
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

from contracts.pipeline import DataRules
from trajectories.formats import FORMATS
from trajectories.message import Message, ToolCall
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

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


def only(folder: Path, record: dict[str, Any]) -> Pair | Trajectory:
    reading = read(folder, lines(record))
    assert reading.problems == ()
    (one,) = (*reading.pairs, *reading.trajectories)
    return one


def trajectory(folder: Path, record: dict[str, Any]) -> Trajectory:
    one = only(folder, record)
    assert isinstance(one, Trajectory)
    return one


def pair(folder: Path, record: dict[str, Any]) -> Pair:
    one = only(folder, record)
    assert isinstance(one, Pair)
    return one


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


DATA_URI = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    ("part", "reference"),
    [
        ({"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}, None),
        ({"type": "image_url", "image_url": "https://a/b.png"}, None),
        ({"type": "input_image", "image_url": DATA_URI}, DATA_URI),
        ({"type": "input_image", "file_id": "file-1"}, "file-1"),
        ({"type": "image", "path": "a/b.png"}, "a/b.png"),
        ({"type": "image", "image": {"path": "a/b.png"}}, "a/b.png"),
        ({"type": "image", "source": {"type": "url", "url": "s3://b/k"}}, "s3://b/k"),
    ],
)
def test_an_image_is_a_reference_in_any_form_and_is_never_fetched(
    tmp_path: Path, part: Any, reference: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something is fetched"))
    turns = [turn("user", [part, {"type": "text", "text": "what?"}]), turn("assistant", "a cat")]
    one = trajectory(tmp_path, {"messages": turns})
    assert one.messages[0].images == (reference or "https://a/b.png",)
    assert one.messages[0].content == "what?"


@pytest.mark.parametrize(
    ("content", "images", "problem"),
    [
        ("<image>a", ["1"], ""),
        ("<image>a<image>", ["1", "2"], ""),
        ([{"type": "image"}, {"type": "text", "text": "a"}], ["1"], ""),
        ("<image> is a tag", None, ""),
        ("<image>a", [], "lists 0 images, and the turns have places for 1"),
        ("<image>a", ["1", "2"], "lists 2 images, and the turns have places for 1"),
        ("a", ["1"], "lists 1 images, and the turns have places for 0"),
        ("<image>a", [None], "is null without a reference"),
        ("<image>a", [3], "is a number, no reference to an image"),
        ([{"type": "image"}], None, "shows an image that is not given"),
    ],
)
def test_images_are_as_many_as_the_places_for_them_or_the_record_is_refused(
    tmp_path: Path, content: Any, images: Any, problem: str
) -> None:
    record = {"messages": [turn("user", content), turn("assistant", "b")]}
    reading = read(tmp_path, lines(record if images is None else {**record, "images": images}))
    if problem:
        assert only_problem(reading)[2] == problem
    else:
        assert reading.trajectories[0].messages[0].images == tuple(images or ())


@pytest.mark.parametrize(
    ("turns", "field", "words"),
    [
        ([turn("user", "a")], "messages", "holds no turn by the assistant"),
        ([], "messages", "holds no turn"),
        ([turn("assistant", "a")], "messages[0]", "before anything was said to it"),
        ([turn("user", "a"), turn("assistant", "")], "messages[1]", "is an empty turn"),
        ([turn("user", ""), turn("assistant", "b")], "messages[0]", "is an empty turn"),
        (
            [turn("user", "a"), turn("system", "b"), turn("assistant", "c")],
            "messages[1]",
            "is a system turn after the first turn",
        ),
        (
            [turn("user", "a"), turn("tool", "b"), turn("assistant", "c")],
            "messages[1]",
            "is a tool's turn that answers no call",
        ),
        (
            [
                turn("user", "a"),
                {"role": "assistant", "tool_calls": [call("c1")]},
                {**turn("tool", "b"), "tool_call_id": "c2"},
            ],
            "messages[2].tool_call_id",
            "is 'c2', a call that was not made before",
        ),
        ([turn("user", "a"), turn("oracle", "b")], "messages[1].role", "a role that is not known"),
        ([turn("user", "a"), turn("assistant", None)], "messages[1].content", "is null, not text"),
        (
            [turn("user", "a"), {"role": "assistant", "tool_calls": "find()"}],
            "messages[1].tool_calls",
            "is text, not a list of calls",
        ),
        (
            [turn("user", "a"), turn("assistant", [{"type": "input_audio"}])],
            "messages[1].content[0]",
            "is a video, a sound or a document",
        ),
        (
            [turn("user", "a"), {**turn("assistant", "b"), "reward": "1"}],
            "messages[1].reward",
            "is text, not a number",
        ),
        (
            [turn("user", "a"), {**turn("assistant", "b"), "name": 3}],
            "messages[1].name",
            "is a number, not text",
        ),
    ],
)
def test_a_conversation_that_cannot_be_learnt_from_is_refused_by_field(
    tmp_path: Path, turns: list[Any], field: str, words: str
) -> None:
    reading = read(tmp_path, lines(chat(1), {"messages": turns}, chat(2)))
    line, found, problem = only_problem(reading)
    assert (reading.usable, line, found) == (2, 2, field)
    assert words in problem


def test_turns_of_one_role_in_a_row_are_kept_apart(tmp_path: Path) -> None:
    roles = ["system", "system", "user", "user", "assistant", "assistant"]
    one = trajectory(tmp_path, {"messages": [turn(role, role) for role in roles]})
    assert [message.role for message in one.messages] == roles


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("find()", "is a call that is not JSON"),
        ("3", "is a number, not a list of calls"),
        ('{"arguments": {}}', "is null"),
    ],
)
def test_a_call_that_is_not_understood_is_refused(tmp_path: Path, value: str, words: str) -> None:
    record = shared(conversations=[says("human", "a"), says("function_call", value)])
    assert words in only_problem(read(tmp_path, lines(record)))[2]


@pytest.mark.parametrize("text", ["a\\u0000b", "a\\ud800b"])
def test_text_that_cannot_be_stored_is_refused_in_metadata_and_calls_too(
    tmp_path: Path, text: str
) -> None:
    beside = lines(chat(1, origin={"x": ["y"]})).replace(b'"y"', f'"{text}"'.encode())
    called = lines(chat(1)).replace(b'\\"q\\": 1', text.encode())
    for content in (beside, called):
        reading = read(tmp_path, content)
        assert (reading.records, reading.rejected) == (1, 1)
        only_problem(reading)


def test_rewards_whose_sum_no_float_can_hold_are_refused(tmp_path: Path) -> None:
    turns = [turn("user", "a"), *({**turn("assistant", "b"), "reward": 1e308} for _ in range(3))]
    reading = read(tmp_path, lines({"messages": turns}))
    assert only_problem(reading)[2] == "is not finite"


@pytest.mark.parametrize("white", ["\n", " ", "\n ", "\t\n"])
def test_a_transcript_of_white_space_takes_no_time(tmp_path: Path, white: str) -> None:
    began = time.process_time()
    record = transcript(1, chosen="\n\nHuman: a" + white * 500_000 + "\n\nAssistant: b")
    reading = read(tmp_path, lines(record))
    assert (reading.records, reading.rejected) == (1, 1)
    assert time.process_time() - began < 5
