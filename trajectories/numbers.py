"""Numbers that can be computed with."""

from __future__ import annotations

import math

from trajectories.refusal import kind, refuse


def read_number(value: object, field: str) -> float | None:
    """Read a number that a float can hold; None where there is none.

    Raises:
        RecordRefused: it is something else, or not finite.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(
            field, f"is {kind(value)}, not a number", f"give the {field.rpartition('.')[2]} as one"
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number):
        refuse(field, "is NaN, not a number", "leave it out, or give a number")
    if math.isinf(number):
        refuse(field, "is not finite", "give a number that a float can hold")
    return number
