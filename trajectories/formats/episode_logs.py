"""Episodes as agents' logs keep them, with their reward.

`{"task_id": …, "trial": …, "reward": 1.0, "traj": [{role, content}, …]}`, where `trial` may be
left out; or, as we write them, `{"task": …, "reward": 1.0, "messages": [{role, content}, …]}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajectories.conversations import conversation
from trajectories.formats.record_format import Record, RecordFormat
from trajectories.leftovers import Extras
from trajectories.naming import name_of
from trajectories.numbers import read_number
from trajectories.refusal import refuse
from trajectories.trajectory import Trajectory
from trajectories.turns import read_turns

_EPISODE = "give {task_id, reward, traj: [{role, content}, …]}"
_TURNS = ("traj", "messages")
_TASKS = ("task_id", "task")
_KNOWN = frozenset({*_TURNS, *_TASKS, "trial", "reward"})


def _fits(record: Record) -> bool:
    return "traj" in record or ("messages" in record and "reward" in record)


def _read(record: Record) -> Trajectory:
    field = _one_of(record, _TURNS)
    extras: Extras = {}
    turns = read_turns(record[field], field, extras)
    task = _one_of(record, _TASKS)
    reward = read_number(record.get("reward"), "reward")
    if reward is None:
        refuse("reward", "is missing", "give the episode's reward as a number")
    return conversation(
        record,
        turns,
        field,
        _KNOWN,
        extras,
        task=name_of(record[task], task),
        trial=name_of(record.get("trial"), "trial"),
        reward=reward,
        is_log=True,
    )


def _one_of(record: Record, names: Sequence[str]) -> str:
    given = [name for name in names if record.get(name) is not None]
    if not given:
        refuse(names[0], "is missing", _EPISODE)
    if len(given) > 1:
        refuse(given[1], f"is given beside {given[0]}", f"keep one of {' and '.join(names)}")
    return given[0]


FORMAT = RecordFormat(
    name="episode_logs",
    marks="traj, or messages with a reward",
    fits=_fits,
    read=_read,
    noun="episode",
)
