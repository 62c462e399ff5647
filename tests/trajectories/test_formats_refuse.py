"""Images are references, and what no form may hold is refused by its field."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from form_files import (
    call,
    chat,
    says,
    shared,
    transcript,
)
from pair_files import lines, only_problem, read, turn
from single_records import trajectory

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
        ("a", ["1"], "lists 1 image, and the turns have places for 0"),
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
