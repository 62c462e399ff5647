"""One episode while it is played: what was said so far, and what the policy has read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from training.environments.interface import Step, TextEnvironment
from training.rollouts.episode import Episode
from training.rollouts.reading import Chunk
from training.rollouts.seeds import EpisodePlan
from training.rollouts.speaking import Spoken, Turn

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Limits:
    """What ends a turn or an episode.

    Attributes:
        turns: the policy's, an episode.
        new_tokens: sampled ones, a turn.
        context: tokens of an episode.
        end: id of the token that ends a turn.
    """

    turns: int
    new_tokens: int
    context: int
    end: int


@dataclass
class Seat:
    """A row of the cache and the episode that it is lent to.

    Attributes:
        row: of the cache.
        plan: the episode's.
        environment: the episode's.
        limits: what ends it.
        generator: all the sampling's chance.
        task: what the environment says it is.
        over: whether nothing more will be said.
        messages: the conversation as text.
        turns: the policy's, ended.
    """

    row: int
    plan: EpisodePlan
    environment: TextEnvironment
    limits: Limits
    generator: np.random.Generator
    task: int
    over: bool = False
    messages: list[dict[str, str]] = field(default_factory=list)
    turns: int = 0
    _ids: list[int] = field(default_factory=list)
    _actions: list[bool] = field(default_factory=list)
    _logprobs: list[float] = field(default_factory=list)
    _rewards: list[float] = field(default_factory=list)
    _read: int = 0
    _turn_at: int = 0
    _uniforms: list[float] = field(default_factory=list)
    _success: bool = False
    _terminated: bool = False
    _truncated: bool = False
    _format_errors: int = 0
    _failed: str = ""

    def hear(self, ids: tuple[int, ...], text: str) -> None:
        """Take a user message and begin a turn, unless the context is too short for one."""
        room = min(self.limits.new_tokens, self.limits.context - len(self._ids) - len(ids))
        if room < 1:
            self.over = self._truncated = True
            return
        self.messages.append({"role": "user", "content": text})
        self._append(ids)
        self._turn_at = len(self._ids)
        self._uniforms = self.generator.random(room).tolist()

    @property
    def begins(self) -> bool:
        """Whether there is more to read than the token sampled last."""
        return len(self._ids) - self._read > 1 or self._read == 0

    def turn(self) -> Turn:
        """What the policy shall read next, and the chances of the tokens it may say then."""
        said = len(self._ids) - self._turn_at
        chunk = Chunk(self.row, self._read, tuple(self._ids[self._read :]))
        return Turn(chunk, self._uniforms[said:])

    def say(self, spoken: Spoken) -> bool:
        """Take sampled tokens; whether the turn ends with them."""
        count = len(spoken.tokens)
        self._ids += spoken.tokens
        self._actions += [True] * count
        self._logprobs += spoken.logprobs
        self._rewards += [0.0] * count
        self._read = len(self._ids) - 1
        return self.ended or len(self._ids) - self._turn_at >= len(self._uniforms)

    @property
    def said(self) -> tuple[int, ...]:
        """What was sampled this turn."""
        return tuple(self._ids[self._turn_at :])

    @property
    def ended(self) -> bool:
        """Whether the policy itself said that its turn was over."""
        return self._ids[-1] == self.limits.end

    def judge(self, step: Step) -> None:
        """Take what came of the turn."""
        self.turns += 1
        self._rewards[-1] = float(step.reward)
        self._success = self._success or bool(step.info.get("success"))
        self._format_errors += bool(step.info.get("format_error"))
        self._terminated = step.terminated
        out_of_turns = self.turns >= self.limits.turns
        self._truncated = not step.terminated and (step.truncated or out_of_turns)
        self.over = self._terminated or self._truncated

    def fail(self, reason: str) -> None:
        """The environment failed; the episode stops where it stands."""
        self._failed = reason
        self._success = False
        self.over = True

    def episode(self) -> Episode:
        """All of it, as it is kept."""
        return Episode(
            index=self.plan.index,
            seed=self.plan.seed,
            task=self.task,
            ids=self._ids,
            actions=self._actions,
            logprobs=self._logprobs,
            rewards=self._rewards,
            reward=sum(self._rewards),
            success=self._success,
            turns=self.turns,
            terminated=self._terminated,
            truncated=self._truncated,
            format_errors=self._format_errors,
            failed=self._failed,
            messages=self.messages,
        )

    def _append(self, ids: tuple[int, ...]) -> None:
        self._ids += ids
        self._actions += [False] * len(ids)
        self._logprobs += [0.0] * len(ids)
        self._rewards += [0.0] * len(ids)
