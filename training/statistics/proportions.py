"""95% intervals of shares, and of the difference of two shares of the same pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

Z = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""


class Interval(NamedTuple):
    """An estimate with its lower and upper 95% bound."""

    value: float
    low: float
    high: float

    def named(self, value: str, bounds: str = "") -> dict[str, float]:
        """Figures by name; without bounds where they are not finite, as then none are known.

        Args:
            value: name of the estimate.
            bounds: what `_low` and `_high` are added to; the estimate's name where not given.
        """
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return {value: self.value}
        name = bounds or value
        return {value: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


def wilson(wins: float, total: float) -> Interval:
    """Score interval of a share.

    Source: Wilson, J. Am. Stat. Assoc. 22 (1927), 209–212.

    Args:
        wins: successes, within 0 … total; a fraction where trials were worth less than one.
        total: trials, at least one.
    """
    share = wins / total
    spread = 1 + Z**2 / total
    centre = (share + Z**2 / (2 * total)) / spread
    half = Z / spread * math.sqrt(share * (1 - share) / total + Z**2 / (4 * total**2))
    low = 0.0 if wins <= 0 else max(0.0, centre - half)
    high = 1.0 if wins >= total else min(1.0, centre + half)
    return Interval(share, low, high)


def paired_difference(
    both: float, first_only: float, second_only: float, neither: float
) -> Interval:
    """Interval of (share of the first) − (share of the second), judged on the same cases.

    Source: Newcombe, Statistics in Medicine 17 (1998), 2635–2650, method 10: the Wilson bounds
    of both shares, squared and added, less their correlation φ, which is made smaller for
    continuity where it is positive.

    Args:
        both: cases that both win.
        first_only: cases that only the first wins.
        second_only: cases that only the second wins.
        neither: cases that none wins; all four together are at least one.
    """
    total = both + first_only + second_only + neither
    first = wilson(both + first_only, total)
    second = wilson(both + second_only, total)
    phi = _correlation(both, first_only, second_only, neither)
    difference = (first_only - second_only) / total
    down = _combine(first.value - first.low, second.high - second.value, phi)
    up = _combine(first.high - first.value, second.value - second.low, phi)
    return Interval(difference, max(-1.0, difference - down), min(1.0, difference + up))


def difference(first: Interval, second: Interval) -> Interval:
    """Interval of the difference of two shares of which only Wilson's intervals are known.

    Source: Newcombe, Statistics in Medicine 17 (1998), 873–890, method 10, for independent
    shares; of shares of the same cases it is wider than `paired_difference`, if they go together.

    Args:
        first: a share.
        second: what is taken from it.
    """
    gap = first.value - second.value
    down = _combine(first.value - first.low, second.high - second.value, 0.0)
    up = _combine(first.high - first.value, second.value - second.low, 0.0)
    return Interval(gap, gap - down, gap + up)


def _correlation(both: float, first_only: float, second_only: float, neither: float) -> float:
    total = both + first_only + second_only + neither
    product = (
        (both + first_only)
        * (second_only + neither)
        * (both + second_only)
        * (first_only + neither)
    )
    if product == 0:
        return 0.0
    numerator = both * neither - first_only * second_only
    corrected = max(numerator - total / 2, 0.0) if numerator > 0 else numerator
    return corrected / math.sqrt(product)


def _combine(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))
