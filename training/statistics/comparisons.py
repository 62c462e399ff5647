"""How well a score tells good cases from bad ones, and what another score gains on it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from training.statistics.clusters import gain_of, left_out_variance, share_of, worth_in_cases
from training.statistics.proportions import Interval

if TYPE_CHECKING:
    from torch import Tensor

_ROWS = 256


class Gained(NamedTuple):
    """Shares of comparisons that come out right, by two scores, and their difference."""

    before: Interval
    after: Interval
    gain: Interval


class _Wins(NamedTuple):
    """Comparisons that come out right, each a float64 count; sums and differences are, too.

    Attributes:
        good: [G] of each good case.
        bad: [B] of each bad one.
        within: [G] of each good case with bad ones of its own cluster.
    """

    good: Tensor
    bad: Tensor
    within: Tensor


class _Sides(NamedTuple):
    """[G] and [B] clusters of good and of bad cases, numbered from 0."""

    good: Tensor
    bad: Tensor


def compare_separation(
    before: Tensor, after: Tensor, good: Tensor, clusters: Sequence[Hashable]
) -> Gained:
    """Compare every good case with every bad one, by both scores; a tie is not right.

    The share is the area under the ROC curve (Mann and Whitney 1947), ties apart. The G·B
    comparisons are not independent: each case takes part in many, so they are taken for
    min(G, B) at most, of which a mean has at least that variance (Hoeffding, Annals of
    Mathematical Statistics 19 (1948), 293–325, section 5). That cases of one cluster resemble
    each other counts on top, as in `clusters`; clusters are as many as the rarer kind has.

    Args:
        before: [P] scores by the first.
        after: [P] scores by the second.
        good: [P] bool; at least one is and one is not.
        clusters: [P] of the cases.
    """
    sides = _sides(clusters, good)
    scores = [(one[good].double(), one[~good].double()) for one in (before, after)]
    first, second, both = _count(scores, sides)
    comparisons = len(sides.good) * len(sides.bad)
    was, now, kept = (float(one.good.sum()) / comparisons for one in (first, second, both))
    gained = _Wins(*(new - old for new, old in zip(second, first, strict=True)))
    return Gained(
        share_of(was, _worth(first, sides)),
        share_of(now, _worth(second, sides)),
        gain_of(kept, now - kept, was - kept, worth=_worth(gained, sides)),
    )


def _sides(clusters: Sequence[Hashable], good: Tensor) -> _Sides:
    import torch

    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    numbered = torch.tensor([numbers[name] for name in clusters])
    return _Sides(numbered[good.cpu()], numbered[~good.cpu()])


def _count(scores: Sequence[tuple[Tensor, Tensor]], sides: _Sides) -> list[_Wins]:
    """Wins by the first score, by the second, and by both, a few good cases at a time."""
    import torch

    made: list[list[_Wins]] = [[], [], []]
    for start in range(0, len(sides.good), _ROWS):
        some = slice(start, start + _ROWS)
        same = sides.good[some, None] == sides.bad
        first, second = (better[some, None] > worse for better, worse in scores)
        for parts, won in zip(made, (first, second, first & second), strict=True):
            counts = won.sum(1), won.sum(0), (won & same).sum(1)
            parts.append(_Wins(*(one.double() for one in counts)))
    return [
        _Wins(
            torch.cat([part.good for part in parts]),
            torch.stack([part.bad for part in parts]).sum(0),
            torch.cat([part.within for part in parts]),
        )
        for parts in made
    ]


def _worth(wins: _Wins, sides: _Sides) -> float:
    """How many independent comparisons those are worth."""
    import torch

    goods, bads = len(wins.good), len(wins.bad)
    clusters = min(len(set(side.tolist())) for side in sides)
    if min(goods, bads, clusters) < 2:  # noqa: PLR2004 - without the only one nothing is compared
        return 0.0
    share = float(wins.good.sum()) / (goods * bads)
    numbers = _Sides(torch.arange(goods), torch.arange(goods, goods + bads))
    apart = wins._replace(within=torch.zeros_like(wins.within))
    return worth_in_cases(
        min(goods, bads),
        clusters,
        alone=left_out_variance(share, _shares_without(apart, numbers)),
        together=left_out_variance(share, _shares_without(wins, sides)),
    )


def _shares_without(wins: _Wins, sides: _Sides) -> list[float]:
    """The share without each of the clusters; none holds all of a kind."""
    count = int(max(side.max() for side in sides)) + 1
    zeros = wins.good.new_zeros(count)
    gone_good = zeros.index_add(0, sides.good, wins.good)
    gone_bad = zeros.index_add(0, sides.bad, wins.bad)
    within = zeros.index_add(0, sides.good, wins.within)
    left = wins.good.sum() - gone_good - gone_bad + within
    goods = len(wins.good) - sides.good.bincount(minlength=count)
    bads = len(wins.bad) - sides.bad.bincount(minlength=count)
    return [float(one) for one in left / (goods * bads)]
