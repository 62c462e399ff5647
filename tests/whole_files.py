"""A file read whole, all of it in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Contract
from contracts.result import Problem
from trajectories.pair import Pair
from trajectories.reading import Reader
from trajectories.trajectory import Trajectory


class Reading(Contract):
    """What a file holds, all in memory; `records` is always `usable` and `rejected` together."""

    format: str = Field(description="Empty when none fits.")
    evidence: str
    records: int = Field(ge=0)
    pairs: tuple[Pair, ...]
    trajectories: tuple[Trajectory, ...] = ()
    problems: tuple[Problem, ...] = Field(max_length=PROBLEMS_SHOWN_MAX)
    problem_count: int = Field(ge=0)

    @property
    def usable(self) -> int:
        """Records that became a pair or a trajectory."""
        return len(self.pairs) + len(self.trajectories)

    @property
    def rejected(self) -> int:
        """Records that did not."""
        return self.records - self.usable

    @model_validator(mode="after")
    def _no_record_goes_missing(self) -> Self:
        if self.rejected < 0 or self.problem_count < sum(one.count for one in self.problems):
            raise ValueError("more usable than records, or more problems shown than counted")
        if self.rejected and not self.problem_count:
            raise ValueError("records were rejected without a reason")
        return self


def read_file(path: Path, *, name: str, format: str = "auto") -> Reading:
    """Read a file of records and hold them all: for small files; `Reader` streams.

    Args:
        path: the file.
        name: see `Reader`.
        format: see `Reader`.

    Raises:
        ValueError: no such format.
        OSError: the file cannot be read.
    """
    reader = Reader(path, name=name, format=format)
    made = list(reader)
    return Reading(
        format=reader.format,
        evidence=reader.evidence,
        records=reader.records,
        pairs=tuple(one for one in made if isinstance(one, Pair)),
        trajectories=tuple(one for one in made if isinstance(one, Trajectory)),
        problems=reader.problems,
        problem_count=reader.problem_count,
    )
