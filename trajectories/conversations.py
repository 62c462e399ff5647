"""One record's conversation, from its fields to a canonical trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from contracts.model import digest
from trajectories.canonical import canonical
from trajectories.leftovers import Extras, metadata_of
from trajectories.message import Message, plain
from trajectories.numbers import read_number
from trajectories.pictures import FIELDS, place_images
from trajectories.refusal import kind, refuse
from trajectories.text import clean_text
from trajectories.tool_calls import read_tools
from trajectories.trajectory import Trajectory
from trajectories.turn_order import check_turns

TOOLS = ("tools", "functions")
USED = FIELDS.union(TOOLS)
"""Fields that are read here, whatever the format."""


def conversation(
    record: dict[str, Any],
    turns: Sequence[Message],
    field: str,
    known: AbstractSet[str],
    extras: Extras,
    *,
    task: str = "",
    trial: str = "",
    reward: float | None = None,
    label: bool | None = None,
    is_prompt: bool = False,
    is_log: bool = False,
) -> Trajectory:
    """Check a conversation, bring its images and tools to it, and keep what is left of the record.

    Args:
        record: as it was decoded.
        turns: read from it.
        field: where they were.
        known: fields of the record that have been used; tools and images are used here.
        extras: what is left of its turns.
        task: what was played; where the record does not say, its opening is its task.
        trial: which attempt at the task.
        reward: of the episode; where only turns have rewards, it is their sum.
        label: good or bad.
        is_prompt: whether it may do without a turn by the assistant.
        is_log: see `check_turns`.

    Raises:
        RecordRefused: it cannot be used.
    """
    check_turns(turns, field, is_prompt=is_prompt, is_log=is_log)
    shown = place_images(turns, record)
    tools = tools_of(record)
    if reward is None:
        rewards = [turn.reward for turn in shown if turn.reward is not None]
        reward = read_number(sum(rewards), f"{field}, the sum of rewards") if rewards else None
    return Trajectory.of(
        task or opening_digest(shown),
        trial,
        reward,
        shown,
        label=label,
        tools=tools,
        metadata=metadata_of(record, known | USED, extras),
    )


def tools_of(record: dict[str, Any], prefix: str = "") -> str:
    """Declarations of tools, under either name.

    Raises:
        RecordRefused: they are not understood.
    """
    for name in TOOLS:
        if record.get(name) is not None:
            return read_tools(record[name], f"{prefix}{name}")
    return ""


def system_of(record: dict[str, Any]) -> tuple[Message, ...]:
    """A system prompt that stands beside the turns, as the first of them.

    Raises:
        RecordRefused: it is no text.
    """
    system = record.get("system")
    if system is None or system == "":
        return ()
    if not isinstance(system, str):
        refuse("system", f"is {kind(system)}, not text", "write the system prompt as text")
    return (Message(role="system", content=clean_text(system, "system")),)


def label_of(record: dict[str, Any], field: str = "label") -> bool | None:
    """Good or bad; None where it is not said.

    Raises:
        RecordRefused: it is neither true nor false (nor 1 nor 0).
    """
    value = record.get(field)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in {0, 1}:
        return bool(value)
    return refuse(field, f"is {kind(value)}, not true or false", "write true for good, else false")


def opening_digest(turns: Sequence[Message]) -> str:
    """`prompt_digest` of what comes before the first answer."""
    end = next((at for at, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
    return prompt_digest(turns[:end])


def prompt_digest(prompt: Sequence[Message]) -> str:
    """Hexadecimal sha256 of a prompt, the same as `Pair.prompt_digest` of it."""
    return digest(canonical(plain(prompt)))


def as_given(turns: Sequence[Message]) -> tuple[Message, ...]:
    """Turns of a prompt: what the assistant says in them is given to it, not learnt."""
    return tuple(
        turn.model_copy(update={"learnt": False}) if turn.role == "assistant" else turn
        for turn in turns
    )
