"""What is held out: decided by the digest of the task, so by nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from contracts.model import digest
from trajectories.conversations import opening_digest
from trajectories.pair import Pair

T = TypeVar("T")
_DIGITS = 16
_ALL = 1 << (4 * _DIGITS)
_DIGEST = re.compile(r"[0-9a-f]{64}")


def task_is_held_out(task: str, share: float) -> bool:
    """Whether all that belongs to a task is kept from training.

    The same in every run and file, for pairs, labels and demonstrations alike; raising the share
    only adds. Where a record names no task, the digest of what comes before its first answer
    is its task, and it is the task that is digested otherwise, so that a prompt falls on one side
    whatever holds it.

    Args:
        task: its name, or an opening's sha256 in hexadecimal.
        share: of all tasks, within 0..1.
    """
    return _is_below(task if _DIGEST.fullmatch(task) else digest(task.encode()), share)


def task_of(pair: Pair) -> str:
    """The pair's task; where it names none, what comes before its first answer, as a chat's.

    Of a prompt of several turns that is its beginning: a chat that holds the same turns, and a
    pair that goes apart later in it, are on the same side.
    """
    return pair.task or opening_digest(pair.prompt)


def is_held_out(pair: Pair, share: float) -> bool:
    """Whether the pair is kept from training, as everything of its task is."""
    return task_is_held_out(task_of(pair), share)


def split(pairs: Iterable[Pair], share: float) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Pairs to train on, and pairs held out, both in the order given."""
    return split_by(pairs, lambda pair: is_held_out(pair, share))


def split_within_prompts(
    pairs: Iterable[Pair], share: float
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The same by each pair's own digest.

    Pairs of one game share its opening, so a split by prompts would put all on one side. What
    is set aside here shares episodes with what is trained on: good for a look at how training
    goes, not for a judgement.
    """
    return split_by(pairs, lambda pair: is_set_aside(pair.id, share))


def is_set_aside(id_: str, share: float) -> bool:
    """Whether a pair of this id is set aside within its prompt."""
    return _is_below(id_, share)


def split_by(items: Iterable[T], held: Callable[[T], bool]) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """What is not held, and what is, both in the order given."""
    training: list[T] = []
    held_out: list[T] = []
    for item in items:
        (held_out if held(item) else training).append(item)
    return tuple(training), tuple(held_out)


def _is_below(hexadecimal: str, share: float) -> bool:
    return int(hexadecimal[:_DIGITS], 16) < share * _ALL
