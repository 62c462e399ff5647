"""What a run's drops hold: read in full, reported per object, and sorted out for learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from contracts.errors import DataUnusable
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
            pipeline.data,
            plays=pipeline.environment is not None,
        )

    def metrics(self) -> dict[str, float]:
        """Records over all drops."""
        return {
            "records": float(sum(report.records for report in self.reports)),
            "usable": float(sum(report.usable for report in self.reports)),
            "rejected": float(sum(report.rejected for report in self.reports)),
        }


def counts(made: Learnable) -> dict[str, float]:
    """How much there is to learn from."""
    figures = {
        "train_pairs": float(len(made.training)),
        "held_out_pairs": float(len(made.held_out)),
        "distinct_pairs": float(len(made.training) + len(made.held_out)),
    }
    if made.demonstrations:
        rewards = [one.reward for one in made.demonstrations]
        figures["demonstrations"] = float(len(rewards))
        figures["demonstrations_mean_reward"] = sum(rewards) / len(rewards)
    return figures


def require_enough(made: Learnable, pipeline: Pipeline) -> None:
    """Make sure that every step of every round finds what it learns from.

    Raises:
        DataUnusable: one does not.
    """
    steps = {step.algorithm for round_ in pipeline.rounds for step in round_.optimize}
    if "sft" in steps and not made.demonstrations:
        raise DataUnusable(
            "a round learns by sft, but no dropped episode is usable; drop episodes with their "
            "reward, {task_id, reward, traj: [{role, content}, …]}"
        )
    if "dpo" not in steps or (made.training and made.held_out):
        return
    if pipeline.environment is None:
        _refuse_few_pairs(made, pipeline.data.held_out_share)
    raise DataUnusable(
        f"a round learns by dpo, but {len(made.demonstrations)} episodes make only "
        f"{len(made.training) + len(made.held_out)} pairs; drop several episodes a task whose "
        f"rewards differ by {pipeline.data.min_reward_gap:g}, or lower data.min_reward_gap"
    )


def _refuse_few_pairs(made: Learnable, share: float) -> None:
    lacking = "train on" if not made.training else "judge by"
    needed = round(3 / min(share, 1 - share))
    raise DataUnusable(
        f"{len(made.training) + len(made.held_out)} usable pairs leave none to {lacking} when a "
        f"share of {share:g} of the prompts is held out; drop at least {needed} pairs of "
        "different prompts"
    )
