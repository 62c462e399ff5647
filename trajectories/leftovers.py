"""Fields that a format has no use for, kept beside what it reads."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from typing import Any

from trajectories.text import clean_text

TURNS = "turn_fields"
"""Under which the metadata keeps what was said of single turns and parts, by their address."""
Extras = dict[str, dict[str, Any]]


def keep(extras: Extras, place: str, record: dict[str, Any], known: AbstractSet[str]) -> None:
    """Keep what a turn or a part has beyond the known fields, if anything; null is nothing."""
    left = {key: value for key, value in record.items() if key not in known and value is not None}
    if left:
        extras[place] = left


def metadata_of(
    record: dict[str, Any], known: AbstractSet[str], extras: Extras | None = None
) -> dict[str, Any]:
    """A record's fields beyond the known ones, and those of its turns.

    Raises:
        RecordRefused: a text in it cannot be stored.
    """
    left: dict[str, Any] = {
        key: value for key, value in record.items() if key not in known and value is not None
    }
    if extras:
        left = {**left, TURNS: extras}
    return {_storable(key, key): _storable(value, key) for key, value in left.items()}


def _storable(value: Any, field: str) -> Any:  # noqa: ANN401 - any JSON
    """The same, but for floats that JSON cannot hold, which tables have: they become null."""
    kind = type(value)
    if kind is str:
        return clean_text(value, field)
    if kind is dict:
        return {clean_text(key, field): _storable(one, field) for key, one in value.items()}
    if kind is list:
        return [_storable(one, field) for one in value]
    return None if kind is float and not math.isfinite(value) else value
