"""What a run's drops hold: read in full, reported per object, and gathered for learning."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self, cast

from contracts.errors import PermanentError
from contracts.pipeline import Pipeline
from contracts.result import ObjectReport
from training.assignment import Assignment
from training.episodes.gathering import Gathering
from training.events import Advance, Event, Materials
from training.phases.drops import (
    ObjectRead,
    Read,
    objects_of,
    problems_shown,
    read_object,
    why_unreadable,
)


@dataclass
class Dropped:
    """The usable records of all drops, gathered on disk, and what their uploaders should know."""

    gathering: Gathering
    reports: list[ObjectReport] = field(default_factory=list)
    _unreadable: list[PermanentError] = field(default_factory=list)

    @classmethod
    def of(cls, pipeline: Pipeline, scratch: Path) -> Self:
        """Nothing yet.

        Args:
            pipeline: whose rules count.
            scratch: folder for what does not fit in memory.
        """
        plays = pipeline.environment is not None
        return cls(Gathering(scratch, pipeline.learning_rules, plays=plays))

    def read(self, assignment: Assignment, materials: Materials) -> Iterator[Event]:
        """Read object after object."""
        objects = list(objects_of(assignment.plan))
        shown = problems_shown(len(objects))
        rules = assignment.plan.pipeline.data
        for number, one in enumerate(objects):
            yield Advance("Reading drops", step=number, steps=len(objects))
            path = materials[one.name]
            take = partial(self.gathering.add, number)
            reading = read_object(one, path, rules, take, shown=shown)
            read = yield from _said(reading, step=number, steps=len(objects))
            if read.refused:
                self.gathering.refuse(number)
            self.reports.append(read.report)
            error = why_unreadable(path)
            self._unreadable += [error] if error else []

    def require_one_readable(self) -> None:
        """Make sure that some object could be read at all.

        Raises:
            DataUnusable, JobFailed: none could; why the first could not.
        """
        if self._unreadable and len(self._unreadable) == len(self.reports):
            raise self._unreadable[0]

    def metrics(self) -> dict[str, float]:
        """Records over all drops; duplicates are usable ones that came more than once.

        Those are known once what was gathered has been gone through.
        """
        return {
            "records": float(sum(report.records for report in self.reports)),
            "usable": float(sum(report.usable for report in self.reports)),
            "rejected": float(sum(report.rejected for report in self.reports)),
            "duplicates": float(self.gathering.duplicates),
        }


def _said(
    reading: Generator[Read, None, ObjectRead], *, step: int, steps: int
) -> Generator[Event, None, ObjectRead]:
    """Turn what a reading says of itself into signs of life."""
    while True:
        try:
            read = next(reading)
        except StopIteration as end:
            return cast(ObjectRead, end.value)
        figures = {"records": float(read.records), "megabytes": round(read.bytes / 1e6, 1)}
        yield Advance("Reading drops", step=step, steps=steps, metrics=figures)
