"""One record, read as a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pair_files import lines, read

from trajectories.pair import Pair
from trajectories.trajectory import Trajectory


def only(folder: Path, record: dict[str, Any]) -> Pair | Trajectory:
    reading = read(folder, lines(record))
    assert reading.problems == ()
    (one,) = (*reading.pairs, *reading.trajectories)
    return one


def trajectory(folder: Path, record: dict[str, Any]) -> Trajectory:
    one = only(folder, record)
    assert isinstance(one, Trajectory)
    return one


def pair(folder: Path, record: dict[str, Any]) -> Pair:
    one = only(folder, record)
    assert isinstance(one, Pair)
    return one
