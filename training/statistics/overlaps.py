"""How many independent comparisons those are worth that share what they compare."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from typing import NamedTuple


class Comparison(NamedTuple):
    """Two cases of a group that are held against each other."""

    group: Hashable
    better: Hashable
    worse: Hashable


def independent_count(comparisons: Iterable[Comparison]) -> float:
    """As many independent comparisons have a mean of at least the variance of these'.

    Comparisons of a group that share no case are independent. Those of a group can be parted
    into k sets without a shared case: k is the most that one case takes part in (Kőnig 1916), or
    one more where cases are both better and worse ones (Vizing 1964). A mean over n comparisons
    then has at most k times the variance of one over n independent ones, by the inequality of
    Cauchy and Schwarz; groups of n_g comparisons are worth (Σ n_g)² / Σ n_g k_g together. Where
    no case is in two comparisons that is their number.

    Args:
        comparisons: at least one; cases of different groups are different ones.
    """
    groups: defaultdict[Hashable, list[Comparison]] = defaultdict(list)
    for one in comparisons:
        groups[one.group].append(one)
    total = sum(len(some) for some in groups.values())
    worth = total**2 / sum(len(some) * _sets(some) for some in groups.values())
    return max(1.0, worth)


def _sets(comparisons: list[Comparison]) -> int:
    better = Counter(one.better for one in comparisons)
    worse = Counter(one.worse for one in comparisons)
    most = max((better + worse).values())
    return most + 1 if most > 1 and better.keys() & worse.keys() else most
