"""From episodes to preference pairs: of two that played one task, the better rewarded is chosen."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

from trajectories.message import Message, words
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

_ROUNDING = 1e-9
"""Rewards are sums of shares; a gap of 0.1 is one although 0.95 - 0.85 falls short of it."""

T = TypeVar("T")


class Ranked(NamedTuple):
    """What decides over an episode's pairs."""

    reward: float
    id: str


def pairs_of(
    trajectories: Iterable[Trajectory], *, min_gap: float, per_task: int
) -> tuple[Pair, ...]:
    """Pair episodes of one task and one opening whose rewards differ enough.

    Of a task with more such pairs than wanted some are drawn: as evenly as can be over its
    episodes, by their digests, so in the same way from the same episodes in any order. Episodes
    that went word for word alike make no pair, whatever they were rewarded; nor do those that
    nobody rewarded.

    Args:
        trajectories: distinct ones.
        min_gap: least difference of the rewards, above 0.
        per_task: most pairs of a task.

    Returns:
        Distinct pairs, sorted by id.
    """
    tasks: defaultdict[tuple[str, tuple[Message, ...]], list[Trajectory]] = defaultdict(list)
    for one in trajectories:
        if one.reward is not None and one.play:
            tasks[one.task, one.opening].append(one)
    made: dict[str, Pair] = {}
    for episodes in tasks.values():
        ranked = [(Ranked(one.reward or 0.0, one.id), one) for one in episodes]
        for better, worse in matches(ranked, min_gap, per_task):
            pair = pair_of(better, worse)
            if pair is not None:
                made[pair.id] = pair
    return tuple(made[id_] for id_ in sorted(made))


def pair_of(better: Trajectory, worse: Trajectory) -> Pair | None:
    """Two episodes of a task and an opening as a pair; None where they went word for word alike."""
    if words(better.play) == words(worse.play):
        return None
    return Pair.of(better.opening, better.play, worse.play, tools=better.tools, task=better.task)


def matches(
    episodes: Sequence[tuple[Ranked, T]], min_gap: float, most: int
) -> Iterator[tuple[T, T]]:
    """Number all pairs that qualify, and take every so many-th, moved a little by digest.

    Args:
        episodes: of one task and opening, at least one.
        min_gap: least difference of the rewards, above 0.
        most: pairs to give.

    Yields:
        the better and the worse one.
    """
    ranked = sorted(episodes, key=lambda one: one[0])
    rewards = [rank.reward for rank, _ in ranked]
    firsts = [bisect_left(rewards, reward + min_gap - _ROUNDING) for reward in rewards]
    ends = list(accumulate(len(ranked) - first for first in firsts))
    total = ends[-1]
    wanted = min(most, total)
    for turn in range(wanted):
        start, stop = turn * total // wanted, (turn + 1) * total // wanted
        number = start + _draw(ranked[0][0].id, turn) % (stop - start)
        worse = bisect_left(ends, number + 1)
        yield ranked[len(ranked) - (ends[worse] - number)][1], ranked[worse][1]


def _draw(of: str, turn: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{of}/{turn}".encode()).digest()[:8], "big")
