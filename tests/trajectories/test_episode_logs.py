"""Logs of episodes: read as strictly as pairs are, no record lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from episode_files import logged, ours, talk
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import lines, only_problem, read, trl, turn
from whole_files import Reading

from contracts.errors import ContractBroken
from trajectories.trajectory import Trajectory

TAU = Path(__file__).parents[3] / "shared" / "data" / "tau_airline_60.json"


def holds_together(reading: Reading) -> None:
    assert reading.records == reading.usable + reading.rejected
    assert reading.usable == len(reading.pairs) + len(reading.trajectories)
    assert bool(reading.usable) or bool(reading.problem_count)


@pytest.mark.parametrize("build", [logged, ours])
def test_both_forms_are_detected_by_content_and_say_by_what(tmp_path: Path, build: Any) -> None:
    reading = read(tmp_path, lines(*map(build, range(3))))
    assert (reading.format, reading.records, reading.usable) == ("episode_logs", 3, 3)
    assert "3 of the first 3 records have traj, or messages with a reward" in reading.evidence
    assert [one.task for one in reading.trajectories] == ["0", "1", "2"]
    assert [one.reward for one in reading.trajectories] == [1.0, 1.0, 1.0]
    words = [message.content for message in reading.trajectories[0].messages]
    assert words == ["1-16", "8", "lower", "4"]


def test_an_array_is_read_like_lines(tmp_path: Path) -> None:
    records = [logged(number) for number in range(4)]
    array = read(tmp_path, json.dumps(records, indent=1).encode())
    assert array.trajectories == read(tmp_path, lines(*records)).trajectories


def test_the_two_forms_of_one_episode_are_one_trajectory(tmp_path: Path) -> None:
    (theirs,) = read(tmp_path, lines(logged(7, trial=None))).trajectories
    (mine,) = read(tmp_path, lines(ours(7))).trajectories
    assert theirs.id == mine.id
    assert theirs.metadata == {"info": {"anything": [1]}}


def test_two_trials_that_go_word_for_word_alike_are_two_trajectories(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(logged(1, trial=0), logged(1, trial=1), logged(1, trial=1)))
    ids = [one.id for one in reading.trajectories]
    assert ids[0] != ids[1] == ids[2]


def test_a_system_prompt_and_a_tools_answer_are_kept(tmp_path: Path) -> None:
    turns = [turn("developer", "play"), *talk("1-16", "8"), turn("tool", "lower")]
    (found,) = read(tmp_path, lines(logged(traj=turns))).trajectories
    assert [message.role for message in found.messages] == ["system", "user", "assistant", "tool"]
    assert [message.role for message in found.opening] == ["system", "user"]
    assert [message.content for message in found.play] == ["8"]


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"reward": None}, "reward", "is missing"),
        ({"reward": "1"}, "reward", "is text, not a number"),
        ({"reward": True}, "reward", "is true or false, not a number"),
        ({"reward": [1]}, "reward", "is a list, not a number"),
        ({"reward": 10**400}, "reward", "is not finite"),
        ({"reward": {"total": 1}}, "reward", "is an object, not a number"),
        ({"task_id": None}, "task_id", "is missing"),
        ({"task_id": ""}, "task_id", "is empty"),
        ({"task_id": 1.5}, "task_id", "is a number such as 1.5"),
        ({"task_id": False}, "task_id", "is true or false such as False"),
        ({"task": "x"}, "task", "is given beside task_id"),
        ({"trial": {}}, "trial", "is an object such as {}"),
        ({"messages": []}, "messages", "is given beside traj"),
        ({"traj": None}, "traj", "is missing"),
        ({"traj": "8"}, "traj", "is text, not a list of messages"),
        ({"traj": []}, "traj", "holds no turn"),
        ({"traj": talk("1-16")}, "traj", "holds no turn by the assistant"),
        ({"traj": talk("1-16", " ")}, "traj[1]", "is an empty turn"),
        ({"traj": talk("1-16", "8")[1:]}, "traj[0]", "is the assistant's, before anything"),
        (
            {"traj": [*talk("1-16", "8"), turn("system", "s")]},
            "traj[2]",
            "is a system turn after the first turn",
        ),
        (
            {"traj": [*talk("1-16"), turn("oracle", "8")]},
            "traj[1].role",
            "is 'oracle', a role that is not known",
        ),
        ({"traj": [*talk("1-16"), turn("assistant", None)]}, "traj[1].content", "is null"),
        (
            {"traj": [*talk("1-16"), turn("assistant", [{"type": "image_url"}])]},
            "turn 2",
            "shows an image that is not given",
        ),
        (
            {"traj": [*talk("1-16"), {**turn("assistant", "8"), "tool_calls": [{"id": "1"}]}]},
            "traj[1].tool_calls[0].name",
            "is null",
        ),
        (
            {"traj": [*talk("1-16", "8"), {**turn("tool", "x"), "tool_call_id": "nobody's"}]},
            "traj[2].tool_call_id",
            'is "nobody\'s", a call that was not made before',
        ),
        ({"traj": talk("1-16", "8\x00")}, "traj[1].content", "holds a NUL character"),
        ({"tools": True}, "tools", "is true or false, not a list of functions"),
    ],
)
def test_a_faulty_episode_is_rejected_by_field_and_the_rest_is_usable(
    tmp_path: Path, changes: dict[str, Any], field: str, words: str
) -> None:
    reading = read(tmp_path, lines(logged(1), logged(2, **changes), logged(3)))
    assert (reading.records, reading.usable, reading.rejected) == (3, 2, 1)
    line, where, problem = only_problem(reading)
    assert (line, where) == (2, field)
    assert problem.startswith(words)


@pytest.mark.parametrize("reward", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_a_reward_that_json_cannot_hold_is_rejected(tmp_path: Path, reward: bytes) -> None:
    spoilt = lines(logged(1)).replace(b'"reward": 1.0', b'"reward": ' + reward)
    reading = read(tmp_path, lines(logged(0)) + spoilt)
    assert (reading.usable, reading.rejected) == (1, 1)
    assert only_problem(reading)[:2] == (2, "record")


def test_conversations_without_a_reward_are_demonstrations(tmp_path: Path) -> None:
    reading = read(tmp_path, lines({"messages": talk("a", "b")}))
    assert (reading.format, reading.usable) == ("openai_chat", 1)
    assert reading.trajectories[0].reward is None


@pytest.mark.parametrize(
    "turns",
    [
        [turn("system", "s"), turn("assistant", "8")],
        [*talk("1-16", "8"), turn("assistant", "4")],
        [*talk("1-16"), turn("user", "please"), turn("assistant", "4")],
        [*talk("a", "b", "c"), turn("tool", "d"), turn("assistant", "e")],
        [*talk("1-16", "8"), turn("tool", "")],
    ],
)
def test_turns_of_one_role_in_a_row_and_observations_of_a_tool_are_kept_as_they_are(
    tmp_path: Path, turns: list[dict[str, Any]]
) -> None:
    (found,) = read(tmp_path, lines(logged(traj=turns))).trajectories
    assert [message.role for message in found.messages] == [one["role"] for one in turns]
    assert [message.content for message in found.messages] == [one["content"] for one in turns]


def test_a_pair_among_episodes_is_named_as_such(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(logged(1), logged(2), trl(3)))
    problem = only_problem(reading)[2]
    assert problem == "looks like trl_pairs in a file taken for episode_logs"


def test_the_format_can_be_set_by_the_pipeline(tmp_path: Path) -> None:
    reading = read(tmp_path, lines(logged(1), trl(2)), format_="episode_logs")
    assert (reading.usable, reading.rejected) == (1, 1)
    assert "set by the pipeline" in reading.evidence


def test_a_line_of_ours_comes_back_and_a_changed_one_does_not(tmp_path: Path) -> None:
    (found,) = read(tmp_path, lines(logged(5, reward=1, info=None))).trajectories
    assert Trajectory.from_line(found.to_line(), where="here") == found
    assert set(json.loads(found.to_line())) == {"id", "task", "trial", "reward", "messages"}
    with pytest.raises(ContractBroken, match=r"here: the trajectory's id"):
        Trajectory.from_line(found.to_line().replace(b"1.0", b"0.5"), where="here")
    with pytest.raises(ContractBroken, match=r"here: .*task"):
        Trajectory.from_line(b'{"id":"' + b"0" * 64 + b'","messages":[]}', where="here")


def test_a_line_of_ours_can_be_dropped_again(tmp_path: Path) -> None:
    found = read(tmp_path, lines(logged(5), logged(6, trial="b"))).trajectories
    again = read(tmp_path, b"".join(one.to_line() for one in found)).trajectories
    assert [one.id for one in again] == [one.id for one in found]


@pytest.mark.skipif(not TAU.exists(), reason="the shared data sets are not here")
def test_a_real_log_is_read_whole_with_its_calls_and_answers(tmp_path: Path) -> None:
    reading = read(tmp_path, TAU.read_bytes())
    assert (reading.format, reading.records, reading.usable) == ("episode_logs", 60, 60)
    turns = [message for one in reading.trajectories for message in one.messages]
    assert sum(len(message.tool_calls) for message in turns) == 361
    assert sum(message.role == "tool" for message in turns) == 361
    assert all(one.metadata["info"] for one in reading.trajectories)


TURNS = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "user", "assistant", "tool", "oracle"]),
            "content": st.sampled_from(["8", "lower", "", None, ["x"], [{"type": "text"}]]),
        }
    )
    | st.none(),
    max_size=5,
)
SPOILT = st.builds(
    lambda build, changes: build(0, **changes),
    st.sampled_from([logged, ours]),
    st.dictionaries(
        st.sampled_from(["task_id", "task", "trial", "reward", "traj", "messages", "tools"]),
        TURNS | st.floats() | st.booleans() | st.text(max_size=3) | st.none() | st.integers(),
        max_size=3,
    ),
)
RECORDS = st.lists(st.builds(logged, st.integers(0, 3)) | SPOILT, max_size=8)


@settings(max_examples=200, deadline=None)
@given(records=RECORDS, format_=st.sampled_from(["auto", "episode_logs", "trl_pairs"]))
def test_whatever_a_log_holds_records_are_usable_or_rejected(
    tmp_path_factory: Any, records: list[Any], format_: str
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    reading = read(folder, lines(*records), format_=format_)
    holds_together(reading)
    assert reading.records == len(records)
    for one in reading.trajectories:
        assert Trajectory.from_line(one.to_line(), where="") == one
        assert one.play[0].role == one.play[-1].role == "assistant"
        assert one.opening[-1].role in {"system", "user", "tool"}
