"""The figures that a candidate is judged by where there are labels, and no pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Literal

from training.phases.measuring import LabelledTasks
from training.statistics.clusters import clustered_mean
from training.statistics.comparisons import compare_separation
from training.statistics.proportions import Interval

if TYPE_CHECKING:
    from torch import Tensor

    from training.algorithms.logprobs import RowScores


def compare_labelled(
    parent: RowScores,
    candidate: RowScores,
    good: Tensor,
    tasks: Sequence[str],
    metric: Literal["label_accuracy", "likelihood"],
) -> dict[str, float]:
    """The metric before and after and the gain between them, each with 95% bounds.

    `label_accuracy` is the share of comparisons of a good with a bad episode in which the good
    one's mean log-probability a token that the policy says is the higher; a tie is not.
    `likelihood` is that mean, averaged over the good episodes, in nats a token. Episodes of one
    task resemble each other: intervals are those of `statistics.clusters`, and there are no
    bounds where tasks are too few for one. The other of the two metrics is shown beside it, with
    its gain under its own name, where the data allow it.

    Args:
        parent: of P held-out episodes.
        candidate: of the same.
        good: [P] bool.
        tasks: [P] what each is of.
        metric: the one that the gate judges.
    """
    figures = {"held_out_good": float(good.sum()), "held_out_bad": float((~good).sum())}
    of_good = list(compress(tasks, good.tolist()))
    if 0 < len(of_good) < len(tasks):
        gained = compare_separation(parent.means, candidate.means, good, tasks)
        figures |= _figures("label_accuracy", gained.before, gained.after, gained.gain, metric)
        figures["comparisons"] = figures["held_out_good"] * figures["held_out_bad"]
    if of_good:
        before, after = parent.means[good].double(), candidate.means[good].double()
        started, ended, gain = (
            clustered_mean(one.tolist(), of_good) for one in (before, after, after - before)
        )
        figures |= _figures("likelihood", started, ended, gain, metric)
    judged = LabelledTasks.of(good.tolist(), tasks).judging(metric)
    return figures | {"judged_tasks": float(judged)}


def _figures(
    name: str, before: Interval, after: Interval, gain: Interval, metric: str
) -> dict[str, float]:
    if name != metric:
        return {
            f"start_{name}": before.value,
            f"end_{name}": after.value,
            f"{name}_gain": gain.value,
        }
    return {
        **before.named(f"start_{name}", "start"),
        **after.named(f"end_{name}", "end"),
        **gain.named("gain"),
    }
