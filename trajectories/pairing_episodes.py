"""From episodes to preference pairs: of two that played one task, the better rewarded is chosen."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

_ROUNDING = 1e-9
"""Rewards are sums of shares; a gap of 0.1 is one although 0.95 - 0.85 falls short of it."""


def pairs_of(
    trajectories: Iterable[Trajectory], *, min_gap: float, per_task: int
) -> tuple[Pair, ...]:
    """Pair episodes of one task and one opening whose rewards differ enough.

    Of a task with more such pairs than wanted some are drawn: as evenly as can be over its
    episodes, by their digests, so in the same way from the same episodes in any order. Episodes
    that went word for word alike make no pair, whatever they were rewarded.

    Args:
        trajectories: distinct ones.
        min_gap: least difference of the rewards, above 0.
        per_task: most pairs of a task.

    Returns:
        Distinct pairs, sorted by id.
    """
    tasks: defaultdict[tuple[str, tuple[Message, ...]], list[Trajectory]] = defaultdict(list)
    for one in trajectories:
        tasks[one.task, one.opening].append(one)
    made: dict[str, Pair] = {}
    for episodes in tasks.values():
        for better, worse in _matches(episodes, min_gap, per_task):
            if _words(better) != _words(worse):
                pair = Pair.of(better.opening, better.play, worse.play)
                made[pair.id] = pair
    return tuple(made[id_] for id_ in sorted(made))


def _matches(
    episodes: Sequence[Trajectory], min_gap: float, most: int
) -> Iterator[tuple[Trajectory, Trajectory]]:
    """Number all pairs that qualify, and take every so many-th, moved a little by digest."""
    ranked = sorted(episodes, key=lambda one: (one.reward, one.id))
    rewards = [one.reward for one in ranked]
    firsts = [bisect_left(rewards, reward + min_gap - _ROUNDING) for reward in rewards]
    ends = list(accumulate(len(ranked) - first for first in firsts))
    total = ends[-1]
    wanted = min(most, total)
    for turn in range(wanted):
        start, stop = turn * total // wanted, (turn + 1) * total // wanted
        number = start + _draw(ranked[0].id, turn) % (stop - start)
        worse = bisect_left(ends, number + 1)
        yield ranked[len(ranked) - (ends[worse] - number)], ranked[worse]


def _draw(of: str, turn: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{of}/{turn}".encode()).digest()[:8], "big")


def _words(one: Trajectory) -> list[tuple[str, list[str]]]:
    return [(turn.role, turn.content.split()) for turn in one.play]
