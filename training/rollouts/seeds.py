"""Which seed and task an episode has: a pure function of run, round, purpose and index."""

from __future__ import annotations

import random
from dataclasses import dataclass
from hashlib import sha256

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
            after a dash that tells streams apart, such as `optimize-7`.
        index: the episode's.

    Raises:
        KeyError: no such purpose.
    """
    kind = _CLASSES[purpose.partition("-")[0]]
    hashed = sha256(f"{run}/{round_}/{purpose}/{index}".encode()).digest()
    return (kind << _BITS) | (int.from_bytes(hashed[:8], "big") >> (64 - _BITS))


def task_of(index: int, tasks: int, seed: int) -> int:
    """The task of an episode: each comes once in every `tasks` episodes, in a shuffled order.

    Args:
        index: the episode's.
        tasks: how many there are, at least one.
        seed: of the order.
    """
    order = list(range(tasks))
    random.Random(f"{seed}:{index // tasks}").shuffle(order)  # noqa: S311 - an order, no secret
    return order[index % tasks]


def plan_episodes(
    run: str, round_: int, purpose: str, *, count: int, tasks: int, seed: int
) -> list[EpisodePlan]:
    """Plan episodes 0 … count-1; see `episode_seed` and `task_of`."""
    plans: list[EpisodePlan] = []
    for first in range(0, count, tasks):
        order = list(range(tasks))
        random.Random(f"{seed}:{first // tasks}").shuffle(order)  # noqa: S311 - no secret
        plans += [
            EpisodePlan(index, episode_seed(run, round_, purpose, index), task)
            for index, task in enumerate(order[: count - first], first)
        ]
    return plans
