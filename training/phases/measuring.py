"""What a policy of a pipeline without an environment is judged by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, Self

from contracts.counting import counted
from contracts.errors import DataUnusable
from contracts.pipeline import Gate
from training.episodes.artifact import Contents
from training.statistics.clusters import CLUSTERS_MIN

Metric = Literal["accuracy", "label_accuracy", "likelihood"]
GOOD_MIN = 2
"""Held-out good episodes that a likelihood needs: one alone has no interval."""


class LabelledTasks(NamedTuple):
    """How many tasks the good held-out episodes are of, and how many the bad ones."""

    good: int
    bad: int

    @classmethod
    def of(cls, good: Iterable[bool], tasks: Iterable[str]) -> Self:
        """Count them.

        Args:
            good: whether each episode is good.
            tasks: what each is of.
        """
        sides: dict[bool, set[str]] = {True: set(), False: set()}
        for label, task in zip(good, tasks, strict=True):
            sides[label].add(task)
        return cls(len(sides[True]), len(sides[False]))

    def judging(self, metric: Literal["label_accuracy", "likelihood"]) -> int:
        """Tasks by which a metric's intervals go: for comparisons those of the rarer kind."""
        return self.good if metric == "likelihood" else min(self)


def metric_of(gate: Gate, contents: Contents, tasks: LabelledTasks | None = None) -> Metric:
    """The gate's metric, or the best that the data allow where it leaves that open.

    Of few tasks no gain can be known, see `statistics.clusters`: an open gate passes a metric
    over for that where the next one has tasks enough.

    Args:
        gate: the pipeline's.
        contents: of the episodes artifact.
        tasks: of its held-out episodes; None to ask only whether there is any metric.

    Raises:
        DataUnusable: what is held out does not give it.
    """
    metric = _wanted(gate, contents, tasks)
    if tasks is not None and metric != "accuracy" and not tasks.judging(metric):
        kinds = "good" if metric == "likelihood" else "good, or no bad,"
        raise DataUnusable(
            f"no {kinds} held-out episode in which the assistant says anything is there to judge "
            f"{metric} by; drop episodes with answers"
        )
    return metric


def _wanted(gate: Gate, contents: Contents, tasks: LabelledTasks | None) -> Metric:
    if gate.metric == "auto":
        return _best(contents, tasks)
    for metric in ("accuracy", "label_accuracy", "likelihood"):
        if gate.metric == metric and _lacks(metric, contents):
            raise DataUnusable(f"gate.metric is {metric}, but {_lacks(metric, contents)}")
        if gate.metric == metric:
            return metric
    raise DataUnusable(f"gate.metric is {gate.metric}, which needs an environment")


def _best(contents: Contents, tasks: LabelledTasks | None) -> Metric:
    if contents.kind == "pairs":
        if lacking := _lacks("accuracy", contents):
            raise DataUnusable(lacking)
        return "accuracy"
    lacking = _lacks("likelihood", contents)
    if not _lacks("label_accuracy", contents) and (lacking or not _only_likelihood(tasks)):
        return "label_accuracy"
    if lacking:
        raise DataUnusable(lacking)
    return "likelihood"


def _only_likelihood(tasks: LabelledTasks | None) -> bool:
    """Whether tasks are too few for label_accuracy to be known, and enough for likelihood."""
    if tasks is None:
        return False
    return tasks.judging("label_accuracy") < CLUSTERS_MIN <= tasks.judging("likelihood")


def _lacks(metric: Metric, contents: Contents) -> str:
    good, bad = contents.held_out_good, contents.held_out_bad
    if metric == "accuracy":
        return "" if contents.held_out_pairs else "no pair is held out to judge by"
    if metric == "label_accuracy":
        return "" if good and bad else _held_out(good, bad, "one good and one bad are needed")
    return "" if good >= GOOD_MIN else _held_out(good, bad, f"{GOOD_MIN} good ones are needed")


def _held_out(good: int, bad: int, needed: str) -> str:
    found = f"{counted(good, 'episode is', 'episodes are')} good and {bad:,} bad"
    return (
        f"of the tasks held out to judge by, {found}, and {needed}; "
        "drop more episodes of different tasks, or raise data.held_out_share"
    )
