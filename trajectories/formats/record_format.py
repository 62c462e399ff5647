"""What a reader of one format has to offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

Record = dict[str, Any]


@dataclass(frozen=True)
class RecordFormat:
    """One format: how to recognise a record of it, and how to read one."""

    name: str
    """As in a pipeline's `data.format`."""
    marks: str
    """The fields that it is recognised by, in words."""
    fits: Callable[[Record], bool]
    """Whether a record looks like it; a record that does may still be faulty."""
    read: Callable[[Record], Pair | Trajectory]
    """Read one record; raises `RecordRefused`."""
    noun: str = "conversation"
    """What one record is called in a sentence."""
