"""One played episode, as it is kept: the sampled tokens are the truth, text is for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from contracts.errors import ContractBroken
from contracts.model import canonical_json


@dataclass(frozen=True)
class Episode:
    """T tokens of a conversation, and what came of it.

    Attributes:
        index: number among the episodes of the same purpose.
        seed: of the environment and of the sampling.
        task: what the environment says it was.
        ids: [T] every token, prompt and observations included, as it was fed or sampled.
        actions: [T] whether the policy sampled it.
        logprobs: [T] log-probability at sampling, in nats; 0 where it was not sampled.
        rewards: [T] on the last sampled token of each turn; 0 elsewhere.
        reward: their sum.
        success: whether the environment called it a success.
        turns: the policy's turns.
        terminated: whether it ended by the environment's rules.
        truncated: whether it was cut off, by the environment, the turns or the context.
        format_errors: turns whose text had a bad form.
        failed: why the environment failed; then the rest stops where it stood, and nobody
            should learn from it. Empty when it did not.
        messages: the conversation as text, each with `role` and `content`.
    """

    index: int
    seed: int
    task: int
    ids: list[int]
    actions: list[bool]
    logprobs: list[float]
    rewards: list[float]
    reward: float
    success: bool
    turns: int
    terminated: bool
    truncated: bool
    format_errors: int
    failed: str = ""
    messages: list[dict[str, str]] = field(default_factory=list)

    def to_line(self) -> bytes:
        """One line of canonical JSON, newline included; marks as 0 and 1."""
        plain = asdict(self) | {"actions": [int(mark) for mark in self.actions]}
        return canonical_json(plain) + b"\n"

    @classmethod
    def from_line(cls, line: bytes | str, *, where: str) -> Episode:
        """Read what `to_line` wrote.

        Args:
            line: the JSON text.
            where: the line's address, for the error.

        Raises:
            ContractBroken: it is not such a line.
        """
        try:
            plain = json.loads(line)
        except ValueError as error:
            raise ContractBroken(f"{where}: not JSON: {error}") from error
        names = {one.name for one in fields(cls)}
        if not isinstance(plain, Mapping) or set(plain) != names:
            raise ContractBroken(f"{where}: an episode has exactly {', '.join(sorted(names))}")
        made = cls(**dict(plain) | {"actions": [bool(mark) for mark in plain["actions"]]})
        lengths = {len(part) for part in (made.ids, made.actions, made.logprobs, made.rewards)}
        if len(lengths) > 1:
            raise ContractBroken(f"{where}: ids, actions, logprobs and rewards differ in length")
        return made
