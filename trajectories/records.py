"""What a container gives: records, and the places where one could not be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trajectories.strict_json import Decoded


class Found(NamedTuple):
    """A record that is JSON; whether it is an object is for others to say.

    Attributes:
        line: its line, or its place in an array or a table, from 1.
        value: the decoded JSON.
        size: of its text, about.
    """

    line: int
    value: object
    size: int = 0


class Broken(NamedTuple):
    """A record that could not be read; line 0 is the file itself, not a record."""

    line: int
    problem: str
    remedy: str
    field: str = "record"


Item = Found | Broken
Note = Callable[[int], None]
"""Is told now and then how many bytes of a file have been read."""


def item(line: int, decoded: Decoded, size: int = 0) -> Item:
    """A decoded value as a record, or as a broken one when it is defective."""
    if decoded.defect:
        return Broken(line, decoded.defect, "write the record with a strict JSON library")
    return Found(line, decoded.value, size)
