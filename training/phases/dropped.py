"""What a run's drops hold: read in full, reported per object, and sorted out for learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from contracts.pipeline import Pipeline
from contracts.result import ObjectReport
from training.assignment import Assignment
from training.events import Advance, Event, Materials
from training.phases.drops import read_drop
from trajectories.learnable import Learnable, learnable
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory


@dataclass
class Dropped:
    """The usable records of all drops, and what their uploaders should know."""

    pairs: list[Pair] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)
    reports: list[ObjectReport] = field(default_factory=list)

    def read(self, assignment: Assignment, materials: Materials) -> Iterator[Event]:
        """Read drop after drop."""
        drops = assignment.plan.drops
        for number, drop in enumerate(drops, 1):
            yield Advance("Reading drops", step=number - 1, steps=len(drops))
            read = read_drop(drop, materials[drop.id], assignment.plan.pipeline.data)
            self.pairs += read.pairs
            self.trajectories += read.trajectories
            self.reports.append(read.report)

    def learnable(self, pipeline: Pipeline) -> Learnable:
        """What of it the pipeline's rounds learn from."""
        return learnable(
            self.pairs,
            self.trajectories,
            pipeline.learning_rules,
            plays=pipeline.environment is not None,
        )

    def metrics(self) -> dict[str, float]:
        """Records over all drops."""
        return {
            "records": float(sum(report.records for report in self.reports)),
            "usable": float(sum(report.usable for report in self.reports)),
            "rejected": float(sum(report.rejected for report in self.reports)),
        }
