"""Which seed and task an episode has: a pure function of run, round, purpose and index."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from training.rollouts.tasks import task_of

_CLASSES = {"collect": 1, "optimize": 2, "evaluate": 3}
_BITS = 51


@dataclass(frozen=True)
class EpisodePlan:
    """What makes an episode the one it is.

    Attributes:
        index: its number among the episodes of the same purpose.
        seed: of the environment and of the sampling.
        task: of the environment; None lets the seed decide.
    """

    index: int
    seed: int
    task: int | None = None


def episode_seed(run: str, round_: int, purpose: str, index: int) -> int:
    """The seed of one episode, below 2^53, so that every JSON reader keeps it whole.

    Its highest two bits are those of the purpose: no seed of `evaluate` is ever one of `collect`
    or `optimize`, and none of the three is a seed below 2^51, such as people give to what they
    drop.

    Args:
        run: the run's id.
        round_: counted from 1.
        purpose: `collect`, `evaluate`, or `optimize`; the latter two words may have an ending
            after a dash that tells streams apart, such as `optimize-look`.
        index: the episode's.

    Raises:
        KeyError: no such purpose.
    """
    kind = _CLASSES[purpose.partition("-")[0]]
    hashed = sha256(f"{run}/{round_}/{purpose}/{index}".encode()).digest()
    return (kind << _BITS) | (int.from_bytes(hashed[:8], "big") >> (64 - _BITS))


def plan_episodes(
    run: str,
    round_: int,
    purpose: str,
    *,
    count: int,
    tasks: int,
    seed: int,
    first: int = 0,
    group_size: int = 1,
) -> list[EpisodePlan]:
    """Plan the next episodes of a purpose, which go through all tasks before any comes again.

    Other runs, rounds and purposes have other orders, so that none plays only tasks that another
    one has played where there are more of them than episodes.

    Args:
        run: the run's id.
        round_: counted from 1.
        purpose: see `episode_seed`.
        count: episodes.
        tasks: how many there are, at least one.
        seed: of the order.
        first: episodes of the purpose that were planned before; a multiple of `group_size`.
        group_size: episodes of one task, one after another.
    """
    order = f"{seed}/{run}/{round_}/{purpose}"
    return [
        EpisodePlan(
            index,
            episode_seed(run, round_, purpose, index),
            task_of(index // group_size, tasks, order),
        )
        for index in range(first, first + count)
    ]
