"""What a run's drops hold: read in full, reported per object, and sorted out for learning."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from contracts.errors import PermanentError
from contracts.pipeline import Pipeline
from contracts.result import ObjectReport
from training.assignment import Assignment
from training.events import Advance, Event, Materials
from training.phases.drops import (
    ObjectRead,
    objects_of,
    problems_shown,
    read_object,
    why_unreadable,
)
from trajectories.learnable import Learnable, learnable
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory


@dataclass
class Dropped:
    """The usable records of all drops, and what their uploaders should know."""

    pairs: list[Pair] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)
    reports: list[ObjectReport] = field(default_factory=list)
    duplicates: int = 0
    _seen: set[str] = field(default_factory=set)
    _unreadable: list[PermanentError] = field(default_factory=list)

    def read(self, assignment: Assignment, materials: Materials) -> Iterator[Event]:
        """Read object after object; of equal records in several of them, the first is kept."""
        objects = list(objects_of(assignment.plan))
        shown = problems_shown(len(objects))
        for number, one in enumerate(objects):
            yield Advance("Reading drops", step=number, steps=len(objects))
            path = materials[one.name]
            reading = read_object(one, path, assignment.plan.pipeline.data, shown=shown)
            read = yield from _said(reading, step=number, steps=len(objects))
            self._keep(read.records)
            self.reports.append(read.report)
            error = why_unreadable(path)
            self._unreadable += [error] if error else []

    def _keep(self, records: Iterable[Pair | Trajectory]) -> None:
        for record in records:
            if record.id in self._seen:
                self.duplicates += 1
                continue
            self._seen.add(record.id)
            if isinstance(record, Pair):
                self.pairs.append(record)
            else:
                self.trajectories.append(record)

    def learnable(self, pipeline: Pipeline) -> Learnable:
        """What of it the pipeline's rounds learn from.

        Raises:
            DataUnusable, JobFailed: not one object could be read at all; why the first could not.
        """
        if self._unreadable and len(self._unreadable) == len(self.reports):
            raise self._unreadable[0]
        return learnable(
            self.pairs,
            self.trajectories,
            pipeline.learning_rules,
            plays=pipeline.environment is not None,
        )

    def metrics(self) -> dict[str, float]:
        """Records over all drops; duplicates are usable ones that came more than once."""
        return {
            "records": float(sum(report.records for report in self.reports)),
            "usable": float(sum(report.usable for report in self.reports)),
            "rejected": float(sum(report.rejected for report in self.reports)),
            "duplicates": float(self.duplicates),
        }


def _said(
    reading: Generator[int, None, ObjectRead], *, step: int, steps: int
) -> Generator[Event, None, ObjectRead]:
    """Turn what a reading says of itself into signs of life."""
    while True:
        try:
            records = next(reading)
        except StopIteration as end:
            return cast(ObjectRead, end.value)
        yield Advance("Reading drops", step=step, steps=steps, metrics={"records": float(records)})
