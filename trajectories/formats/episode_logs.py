"""Episodes as agents' logs keep them, with their reward.

`{"task_id": …, "trial": …, "reward": 1.0, "traj": [{role, content}, …]}`, where `trial` may be
left out; or, as we write them, `{"task": …, "reward": 1.0, "messages": [{role, content}, …]}`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from trajectories.formats.record_format import Record, RecordFormat
from trajectories.message import Message
from trajectories.refusal import kind, refuse, shown
from trajectories.trajectory import Trajectory
from trajectories.turns import clean_text, read_turns

_EPISODE = "give {task_id, reward, traj: [{role, content}, …]}"
_TURNS = ("traj", "messages")
_TASKS = ("task_id", "task")


def _fits(record: Record) -> bool:
    return "traj" in record or ("messages" in record and "reward" in record)


def _read(record: Record) -> Trajectory:
    field = _one_of(record, _TURNS)
    turns = read_turns(record[field], field)
    _check_turns(turns, field)
    task = _one_of(record, _TASKS)
    trial = record.get("trial")
    return Trajectory.of(
        task=_label(record[task], task),
        trial="" if trial is None else _label(trial, "trial"),
        reward=_reward(record.get("reward")),
        messages=turns,
    )


def _one_of(record: Record, names: Sequence[str]) -> str:
    given = [name for name in names if record.get(name) is not None]
    if not given:
        refuse(names[0], "is missing", _EPISODE)
    if len(given) > 1:
        refuse(given[1], f"is given beside {given[0]}", f"keep one of {' and '.join(names)}")
    return given[0]


def _label(value: Any, field: str) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, bool) or not isinstance(value, int | str):
        refuse(field, f"is {kind(value)} such as {shown(value)}", "name it by text or whole number")
    text = clean_text(str(value), field)
    if not text.strip():
        refuse(field, "is empty", "name it by text or whole number")
    return text


def _reward(value: Any) -> float:  # noqa: ANN401 - any JSON
    if value is None:
        refuse("reward", "is missing", "give the episode's reward as a number")
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse("reward", f"is {kind(value)}, not a number", "give the episode's reward as a number")
    try:
        reward = float(value)
    except OverflowError:
        reward = math.inf
    if not math.isfinite(reward):
        refuse("reward", "is not finite", "give a reward that a float can hold")
    return reward


def _check_turns(turns: Sequence[Message], field: str) -> None:
    for place, turn in enumerate(turns):
        if not turn.content.strip():
            refuse(f"{field}[{place}]", "is an empty turn", "write its text, or leave it out")
        if turn.role == "system" and place:
            refuse(f"{field}[{place}]", "is a system turn after the first turn", "put it first")
    if not any(turn.role == "assistant" for turn in turns):
        refuse(field, "holds no turn by the assistant", "leave the episode out: nobody played")
    first = int(turns[0].role == "system")
    if turns[first].role == "assistant":
        refuse(
            f"{field}[{first}]",
            "is the assistant's, before anything was said to it",
            "begin with the first observation, as the user's turn",
        )
    for place in range(first + 1, len(turns)):
        _check_alternation(turns[place - 1], turns[place], f"{field}[{place}]")


def _check_alternation(before: Message, turn: Message, here: str) -> None:
    if (before.role == "assistant") == (turn.role == "assistant"):
        refuse(
            here,
            f"is by the {turn.role}, right after a turn by the {before.role}",
            "let the assistant and its environment take turns: join what stands together",
        )


FORMAT = RecordFormat(
    name="episode_logs",
    marks="traj, or messages with a reward",
    fits=_fits,
    read=_read,
)
