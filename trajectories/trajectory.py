"""One episode as it was logged: who said what, and what it was worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, JsonValue, ValidationError

from contracts.errors import ContractBroken
from contracts.model import Contract, canonical_json, describe, digest
from contracts.names import Digest
from trajectories.canonical import canonical, number
from trajectories.message import Message, plain


class Trajectory(Contract):
    """The messages of one episode, with its return.

    Two trials of one task may go word for word alike: they are two trajectories, told apart by
    `trial` where the log gives it.
    """

    id: Digest
    task: str = Field(min_length=1, description="What was played; episodes of one task compare.")
    trial: str = Field("", description="Which attempt at the task, if the log says so.")
    reward: float | None = Field(
        None, description="Sum over the episode; None where nobody judged it."
    )
    label: bool | None = Field(None, description="Good or bad, where that is all that is known.")
    messages: tuple[Message, ...]
    tools: str = Field("", description="Functions that may be called: JSON text, empty if none.")
    metadata: dict[str, JsonValue] = Field({}, description="Fields that the format has no use for.")

    @classmethod
    def of(
        cls,
        task: str,
        trial: str,
        reward: float | None,
        messages: Sequence[Message],
        *,
        label: bool | None = None,
        tools: str = "",
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> Self:
        """Make a trajectory whose id is the sha256 of its canonical content, metadata aside."""
        return cls(
            id=digest(_content(task, trial, reward, label, messages, tools)),
            task=task,
            trial=trial,
            reward=reward,
            label=label,
            messages=tuple(messages),
            tools=tools,
            metadata=dict(metadata or {}),
        )

    @property
    def opening(self) -> tuple[Message, ...]:
        """What the policy is given before its first turn; all of it, where it has none."""
        return self.messages[: self._first_turn]

    @property
    def play(self) -> tuple[Message, ...]:
        """From the policy's first turn to its last, with all that was said between."""
        turns = [place for place, turn in enumerate(self.messages) if turn.role == "assistant"]
        return self.messages[turns[0] : turns[-1] + 1] if turns else ()

    @property
    def _first_turn(self) -> int:
        turns = enumerate(self.messages)
        return next((at for at, turn in turns if turn.role == "assistant"), len(self.messages))

    @property
    def is_intact(self) -> bool:
        """Whether the id is the digest of the content."""
        content = (self.task, self.trial, self.reward, self.label, self.messages, self.tools)
        return self.id == digest(_content(*content))

    def to_line(self) -> bytes:
        """One line of canonical JSON without what is not there, newline included."""
        return canonical_json(self.model_dump(mode="json", exclude_defaults=True)) + b"\n"

    @classmethod
    def from_line(cls, line: bytes | str, *, where: str) -> Self:
        """Read what `to_line` wrote.

        Args:
            line: the JSON text; white space around it does not matter.
            where: the line's address, for the error.

        Raises:
            ContractBroken: not such a line, or its id is not that of its content.
        """
        try:
            made = cls.model_validate_json(line)
        except ValidationError as error:
            raise ContractBroken(f"{where}: {describe(error)}") from error
        if not made.is_intact:
            raise ContractBroken(f"{where}: the trajectory's id is not the digest of its content")
        return made


def _content(
    task: str,
    trial: str,
    reward: float | None,
    label: bool | None,
    messages: Sequence[Message],
    tools: str,
) -> bytes:
    known: dict[str, Any] = {"task": task, "trial": trial, "messages": plain(messages)}
    if reward is not None:
        known["reward"] = number(reward)
    if label is not None:
        known["label"] = label
    return canonical({**known, "tools": tools} if tools else known)
