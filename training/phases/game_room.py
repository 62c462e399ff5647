"""Whether a whole game fits the model's context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from contracts.counting import counted
from contracts.errors import PipelineInvalid
from contracts.pipeline import Environment
from training.environments.guarded import Failure, Guard
from training.environments.loading import MakeEnvironment, load
from training.models.protocols import Tokenizer
from training.rollouts.conversation import Conversation
from trajectories.trajectory import Trajectory

_TASKS = 16
"""Tasks whose beginnings are listened to; of more, these many evenly."""
_LONGEST = 64
"""Logged observations that are counted in tokens: the longest in characters."""


class Said(NamedTuple):
    """What an environment says: at the beginning, and after a turn."""

    system: str
    openings: Sequence[str]
    replies: Sequence[str]


def require_room(
    spec: Environment, context: int, policy: Path, logged: Iterable[Trajectory]
) -> None:
    """Refuse a context that the longest game would not fit.

    Args:
        spec: the pipeline's environment.
        context: longest sequence in tokens.
        policy: folder whose tokenizer counts.
        logged: dropped episodes, whose observations count too.

    Raises:
        PipelineInvalid: names the field, and how much is needed; or the environment does not
            even begin.
    """
    from training.models.folders import load_tokenizer

    make = load(spec)
    turns = min(spec.max_turns, make().max_turns)
    said = listen(make, logged, limit_s=spec.step_limit_s)
    needed = longest_game(load_tokenizer(policy), said, turns, spec.max_new_tokens)
    if needed > context:
        raise PipelineInvalid(
            f"model.context: {context} tokens are shorter than a game of {counted(turns, 'turn')}, "
            f"which takes up to {needed}; raise it, or lower environment.max_turns or "
            f"environment.max_new_tokens ({spec.max_new_tokens})"
        )


def listen(make: MakeEnvironment, logged: Iterable[Trajectory], *, limit_s: float) -> Said:
    """Hear how games begin, and what is said to a turn of no sense; and what logs say beside.

    Raises:
        PipelineInvalid: no game begins.
    """
    one = make()
    tasks = range(0, one.tasks(), max(1, one.tasks() // _TASKS))
    outcomes = Guard(limit_s).each([partial(_begin, make, task) for task in tasks])
    heard = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
    if not heard:
        first = next(one.reason for one in outcomes if isinstance(one, Failure))
        raise PipelineInvalid(f"environment.path: no game begins: {first}")
    replies = [reply for _, reply in heard] + _longest(_replies(logged))
    return Said(one.system, [opening for opening, _ in heard], replies)


def longest_game(tokenizer: Tokenizer, said: Said, turns: int, max_new_tokens: int) -> int:
    """Tokens of a game whose every turn is as long as it may be.

    Args:
        tokenizer: with a chat template.
        said: what the environment says; the longest counts.
        turns: of the policy.
        max_new_tokens: of a turn, the token that ends it among them.
    """
    spoken = Conversation(tokenizer)
    prompt = max(len(spoken.opening(said.system, text)) for text in said.openings)
    reply = max(len(spoken.reply(text, ended=False)) for text in said.replies)
    return prompt + turns * max_new_tokens + (turns - 1) * reply


def _begin(make: MakeEnvironment, task: int) -> tuple[str, str]:
    environment = make()
    opening, _ = environment.reset(seed=task, task=task)
    reply = environment.step("-").observation
    environment.close()
    return opening, reply


def _replies(logged: Iterable[Trajectory]) -> Iterator[str]:
    return (turn.content for one in logged for turn in one.play if turn.role != "assistant")


def _longest(texts: Iterable[str]) -> list[str]:
    """The longest, each once, of which only so many are ever held."""
    kept: set[str] = set()
    for text in texts:
        kept.add(text)
        if len(kept) > 2 * _LONGEST:
            kept = set(_first(kept))
    return _first(kept)


def _first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text), text))[:_LONGEST]
