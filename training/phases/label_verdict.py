"""The figures that a candidate is judged by where there are labels, and no pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from training.statistics.comparisons import compare_separation
from training.statistics.means import student_mean
from training.statistics.proportions import Interval

if TYPE_CHECKING:
    from torch import Tensor

    from training.algorithms.logprobs import RowScores


def compare_labelled(
    parent: RowScores,
    candidate: RowScores,
    good: Tensor,
    metric: Literal["label_accuracy", "likelihood"],
) -> dict[str, float]:
    """The metric before and after and the gain between them, each with 95% bounds.

    `label_accuracy` is the share of comparisons of a good with a bad episode in which the good
    one's mean log-probability a token that the policy says is the higher; a tie is not.
    `likelihood` is that mean, averaged over the good episodes, in nats a token; its gain's
    interval is Student's over the episodes' own gains. The other of the two is shown beside
    the metric, with its gain under its own name, where the data allow it.

    Args:
        parent: of P held-out episodes.
        candidate: of the same.
        good: [P] bool.
        metric: the one that the gate judges.
    """
    figures = {"held_out_good": float(good.sum()), "held_out_bad": float((~good).sum())}
    if 0 < int(good.sum()) < len(good):
        gained = compare_separation(parent.means, candidate.means, good)
        figures |= _named("label_accuracy", gained.before, gained.after, gained.gain, metric)
        figures["comparisons"] = figures["held_out_good"] * figures["held_out_bad"]
    if int(good.sum()) > 1:
        before, after = parent.means[good].double(), candidate.means[good].double()
        gain = student_mean((after - before).tolist())
        means = student_mean(before.tolist()), student_mean(after.tolist())
        figures |= _named("likelihood", *means, gain, metric)
    return figures


def _named(
    name: str, before: Interval, after: Interval, gain: Interval, metric: str
) -> dict[str, float]:
    figures = {f"start_{name}": before.value, f"end_{name}": after.value}
    if name != metric:
        return figures | {f"{name}_gain": gain.value}
    bounds = {"start": before, "end": after, "gain": gain}
    for prefix, interval in bounds.items():
        figures |= {f"{prefix}_low": interval.low, f"{prefix}_high": interval.high}
    return figures | {"gain": gain.value}
