"""Builders: records of logged episodes."""

from __future__ import annotations

from typing import Any

from pair_files import turn

from trajectories.message import Message
from trajectories.trajectory import Trajectory


def talk(*words: str) -> list[dict[str, Any]]:
    """Turns, by the user first."""
    return [turn("assistant" if place % 2 else "user", said) for place, said in enumerate(words)]


def logged(number: int = 0, **changes: Any) -> dict[str, Any]:
    """As an agent's log has it."""
    record = {
        "task_id": number,
        "trial": 0,
        "reward": 1.0,
        "info": {"anything": [1]},
        "traj": talk("1-16", "8", "lower", "4"),
    }
    return {**record, **changes}


def ours(number: int = 0, **changes: Any) -> dict[str, Any]:
    """As we write it."""
    record = {"task": str(number), "reward": 1.0, "messages": talk("1-16", "8", "lower", "4")}
    return {**record, **changes}


def episode(task: str, reward: float, *words: str, trial: str = "") -> Trajectory:
    """A trajectory of turns, by the user first."""
    messages = [Message(role=one["role"], content=one["content"]) for one in talk(*words)]
    return Trajectory.of(task, trial, reward, messages)
