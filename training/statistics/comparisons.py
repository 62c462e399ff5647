"""How well a score tells good cases from bad ones, and what another score gains on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from training.statistics.proportions import Interval, paired_difference, wilson

if TYPE_CHECKING:
    from torch import Tensor

_ROWS = 256


class Gained(NamedTuple):
    """Shares of comparisons that come out right, by two scores, and their difference."""

    before: Interval
    after: Interval
    gain: Interval


def compare_separation(before: Tensor, after: Tensor, good: Tensor) -> Gained:
    """Compare every good case with every bad one, by both scores; a tie is not right.

    The share is the area under the ROC curve (Mann and Whitney 1947), ties apart. The G·B
    comparisons are not independent: each case takes part in many. The variance of such a mean
    is at most that of min(G, B) independent comparisons (Hoeffding, Annals of Mathematical
    Statistics 19 (1948), 293–325, section 5), so the 95% intervals are those of that many:
    never too narrow on that account, and wide where cases are few.

    Args:
        before: [P] scores by the first.
        after: [P] scores by the second.
        good: [P] bool; at least one is and one is not.
    """
    both = first = second = 0
    bad_before, bad_after = before[~good], after[~good]
    for start in range(0, int(good.sum()), _ROWS):
        some = slice(start, start + _ROWS)
        was = before[good][some, None] > bad_before[None]
        now = after[good][some, None] > bad_after[None]
        both += int((was & now).sum())
        first += int((now & ~was).sum())
        second += int((was & ~now).sum())
    goods, bads = int(good.sum()), int((~good).sum())
    independent = min(goods, bads)
    scale = independent / (goods * bads)
    return Gained(
        wilson((both + second) * scale, independent),
        wilson((both + first) * scale, independent),
        paired_difference(
            both=both * scale,
            first_only=first * scale,
            second_only=second * scale,
            neither=(goods * bads - both - first - second) * scale,
        ),
    )
