"""The figures that a candidate is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from training.statistics.clusters import clustered_gain, clustered_mean, clustered_share

if TYPE_CHECKING:
    from training.algorithms.logprobs import Scores


def compare(parent: Scores, candidate: Scores, tasks: Sequence[str]) -> dict[str, float]:
    """Accuracy before and after, the gain between them, and the margin, each with 95% bounds.

    A pair is won when the mean log-probability a token is higher for the chosen answer; a tie
    is not. The gain's interval is that of paired shares, as both are judged on the same pairs.
    Pairs of one task resemble each other, and may be made of the same few episodes: all intervals
    are those of `statistics.clusters`, and there are no bounds where tasks are too few for one.
    The margin is the mean over pairs of Δ as in `algorithms.dpo`, in nats.

    Args:
        parent: of P held-out pairs.
        candidate: of the same pairs.
        tasks: what each pair is of.
    """
    before = (parent.means.chosen > parent.means.rejected).tolist()
    after = (candidate.means.chosen > candidate.means.rejected).tolist()
    gap = (candidate.sums.chosen - parent.sums.chosen) - (
        candidate.sums.rejected - parent.sums.rejected
    )
    return {
        **clustered_share(before, tasks).named("start_accuracy", "start"),
        **clustered_share(after, tasks).named("end_accuracy", "end"),
        **clustered_gain(before, after, tasks).named("gain"),
        **clustered_mean(gap.tolist(), tasks).named("margin"),
        "pairs": float(len(before)),
        "judged_tasks": float(len(set(tasks))),
        "implicit_accuracy": float((gap > 0).float().mean()),
    }
