"""What a policy of a pipeline without an environment is judged by."""

from __future__ import annotations

from typing import Literal

from contracts.counting import counted
from contracts.errors import DataUnusable
from contracts.pipeline import Gate
from training.episodes.artifact import Contents

Metric = Literal["accuracy", "label_accuracy", "likelihood"]
GOOD_MIN = 2
"""Held-out good episodes that a likelihood needs: one alone has no interval."""


def metric_of(gate: Gate, contents: Contents) -> Metric:
    """The gate's metric, or the best that the data allow where it leaves that open.

    Raises:
        DataUnusable: what is held out does not give it.
    """
    if gate.metric == "auto":
        return _best(contents)
    for metric in ("accuracy", "label_accuracy", "likelihood"):
        if gate.metric == metric and _lacks(metric, contents):
            raise DataUnusable(f"gate.metric is {metric}, but {_lacks(metric, contents)}")
        if gate.metric == metric:
            return metric
    raise DataUnusable(f"gate.metric is {gate.metric}, which needs an environment")


def _best(contents: Contents) -> Metric:
    if contents.kind == "pairs":
        if lacking := _lacks("accuracy", contents):
            raise DataUnusable(lacking)
        return "accuracy"
    if not _lacks("label_accuracy", contents):
        return "label_accuracy"
    if lacking := _lacks("likelihood", contents):
        raise DataUnusable(lacking)
    return "likelihood"


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
