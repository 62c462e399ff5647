"""Whether a whole game fits the model's context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from contracts.errors import PipelineInvalid
from contracts.pipeline import Environment
from training.environments.interface import TextEnvironment
from training.environments.loading import load
from training.models.protocols import Tokenizer
from trajectories.trajectory import Trajectory

_TASKS = 16
"""Tasks whose openings are listened to; of more, these many evenly."""
_LONGEST = 64
"""Logged observations that are counted in tokens: the longest in characters."""


class Said(NamedTuple):
    """What an environment says: at the beginning, and after a turn."""

    system: str
    openings: Sequence[str]
    replies: Sequence[str]


def require_room(
    spec: Environment, context: int, policy: Path, logged: Sequence[Trajectory]
) -> None:
    """Refuse a context that the longest game would not fit.

    Args:
        spec: the pipeline's environment.
        context: longest sequence in tokens.
        policy: folder whose tokenizer counts.
        logged: dropped episodes, whose observations count too.

    Raises:
        PipelineInvalid: names the field, and how much is needed.
    """
    from training.models.folders import load_tokenizer

    environment = load(spec)()
    try:
        said = listen(environment, logged)
        turns = min(spec.max_turns, environment.max_turns)
    finally:
        environment.close()
    needed = longest_game(load_tokenizer(policy), said, turns, spec.max_new_tokens)
    if needed > context:
        raise PipelineInvalid(
            f"model.context: {context} tokens are shorter than a game of {turns} turns, which "
            f"takes up to {needed}; raise it, or lower environment.max_turns or "
            f"environment.max_new_tokens ({spec.max_new_tokens})"
        )


def listen(environment: TextEnvironment, logged: Sequence[Trajectory]) -> Said:
    """Hear how games begin, and what is said to a turn of no sense; and what logs say beside."""
    openings, replies = [], _longest(_replies(logged))
    tasks = environment.tasks()
    for task in range(0, tasks, max(1, tasks // _TASKS)):
        openings.append(environment.reset(seed=task, task=task)[0])
        replies.append(environment.step("-").observation)
    return Said(environment.system, openings, replies)


def longest_game(tokenizer: Tokenizer, said: Said, turns: int, max_new_tokens: int) -> int:
    """Tokens of a game whose every turn is as long as it may be.

    Args:
        tokenizer: with an append-only chat template.
        said: what the environment says; the longest counts.
        turns: of the policy.
        max_new_tokens: of a turn, the token that ends it among them.
    """
    system = [{"role": "system", "content": said.system}] if said.system else []
    prompts = [[*system, {"role": "user", "content": text}] for text in said.openings]
    turn = [*prompts[0], {"role": "assistant", "content": "-"}]
    answered = [[*turn, {"role": "user", "content": text}] for text in said.replies]
    prompt = max(_lengths(tokenizer, prompts, opens=True))
    (before,) = _lengths(tokenizer, [turn], opens=False)
    reply = max(_lengths(tokenizer, answered, opens=True)) - before
    return prompt + turns * max_new_tokens + (turns - 1) * reply


def _lengths(
    tokenizer: Tokenizer, conversations: Sequence[list[dict[str, str]]], *, opens: bool
) -> list[int]:
    texts = [
        tokenizer.apply_chat_template(one, tokenize=False, add_generation_prompt=opens)
        for one in conversations
    ]
    ids = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
    return [len(one) for one in ids]


def _replies(logged: Iterable[Trajectory]) -> set[str]:
    return {turn.content for one in logged for turn in one.play if turn.role != "assistant"}


def _longest(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text), text))[:_LONGEST]
