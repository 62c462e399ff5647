"""Counted things in sentences: `1 pair`, `2 pairs`, `1,024 pairs`."""

from __future__ import annotations


def counted(number: float, one: str, many: str = "") -> str:
    """A number with what it counts.

    Args:
        number: a whole one.
        one: the noun, and whatever else agrees with it: `pair`, or `pair is`.
        many: the same of several; empty where that only takes an s.
    """
    return f"{number:,.0f} {agreeing(number, one, many)}"


def agreeing(number: float, one: str, many: str = "") -> str:
    """Words that agree with a number which stands elsewhere, as in `1 of 7 pairs is`."""
    return one if number == 1 else many or f"{one}s"
