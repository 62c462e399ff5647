"""One episode as it was logged: who said what, and what it was worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pydantic import Field, ValidationError

from contracts.errors import ContractBroken
from contracts.model import Contract, canonical_json, describe, digest
from contracts.names import Digest
from trajectories.pair import Message


class Trajectory(Contract):
    """The messages of one episode, with its return.

    Two trials of one task may go word for word alike: they are two trajectories, told apart by
    `trial` where the log gives it.
    """

    id: Digest
    task: str = Field(min_length=1, description="What was played; episodes of one task compare.")
    trial: str = Field("", description="Which attempt at the task, if the log says so.")
    reward: float = Field(description="Sum over the episode.")
    messages: tuple[Message, ...]

    @classmethod
    def of(cls, task: str, trial: str, reward: float, messages: Sequence[Message]) -> Self:
        """Make a trajectory whose id is the sha256 of its canonical content."""
        made = digest(_content(task, trial, reward, messages))
        return cls(id=made, task=task, trial=trial, reward=reward, messages=tuple(messages))

    @property
    def opening(self) -> tuple[Message, ...]:
        """What the policy is given before its first turn."""
        return self.messages[: self._first_turn]

    @property
    def play(self) -> tuple[Message, ...]:
        """From the policy's first turn to its last, with all that was said between."""
        last = max(place for place, turn in enumerate(self.messages) if turn.role == "assistant")
        return self.messages[self._first_turn : last + 1]

    @property
    def _first_turn(self) -> int:
        return next(place for place, turn in enumerate(self.messages) if turn.role == "assistant")

    def to_line(self) -> bytes:
        """One line of canonical JSON, newline included."""
        return canonical_json(self.model_dump(mode="json")) + b"\n"

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
        if made.id != digest(_content(made.task, made.trial, made.reward, made.messages)):
            raise ContractBroken(f"{where}: the trajectory's id is not the digest of its content")
        return made


def _content(task: str, trial: str, reward: float, messages: Sequence[Message]) -> bytes:
    plain = [{"role": turn.role, "content": turn.content} for turn in messages]
    return canonical_json(
        {"task": task, "trial": trial, "reward": float(reward), "messages": plain}
    )
