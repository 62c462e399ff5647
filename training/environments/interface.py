"""The interface of an environment: Gymnasium's five answers, with text on both sides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Step:
    """What came of one turn of the policy.

    Attributes:
        observation: the next user message; not read once the episode is over.
        reward: of this turn; finite.
        terminated: whether the episode ended by its own rules, so that nothing follows.
        truncated: whether it was cut off, so that something might have followed.
        info: `format_error` and `success`, both bool; more is allowed.
    """

    observation: str
    reward: float
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] = field(default_factory=dict)


class TextEnvironment(Protocol):
    """One episode at a time; after its end `reset` begins the next.

    Instances share no state: those of different episodes are stepped at the same time, in
    different threads and processes.

    Attributes:
        system: the system prompt; empty for none.
        max_turns: turns after which an episode has ended in any case.
    """

    system: str
    max_turns: int

    def tasks(self) -> int:
        """How many distinct tasks there are, at least one; they are numbered from 0."""

    def reset(self, *, seed: int, task: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: all chance in the episode follows from it.
            task: which task; None lets the seed decide.

        Returns:
            The first user message, and an info that names the `task`.
        """

    def step(self, text: str) -> Step:
        """Take the policy's turn. A text of a bad form costs a turn, it is no exception."""

    def close(self) -> None:
        """Let go of whatever the environment holds."""
