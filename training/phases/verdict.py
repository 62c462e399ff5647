"""The figures that a candidate is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from training.statistics.means import bootstrap_mean
from training.statistics.proportions import Interval, paired_difference, wilson

if TYPE_CHECKING:
    from training.algorithms.logprobs import Scores


def compare(
    parent: Scores, candidate: Scores, *, independent: float | None = None
) -> dict[str, float]:
    """Accuracy before and after, the gain between them, and the margin, each with 95% bounds.

    A pair is won when the mean log-probability a token is higher for the chosen answer; a tie
    is not. The gain's interval is that of paired shares, as both are judged on the same pairs.
    Pairs made of the same few episodes are not independent, and count for as many as are.
    The margin is the mean over pairs of Δ as in `algorithms.dpo`, in nats.

    Args:
        parent: of P held-out pairs.
        candidate: of the same pairs.
        independent: how many independent ones the pairs are worth; all of them where not given.
    """
    before = (parent.means.chosen > parent.means.rejected).tolist()
    after = (candidate.means.chosen > candidate.means.rejected).tolist()
    gap = (candidate.sums.chosen - parent.sums.chosen) - (
        candidate.sums.rejected - parent.sums.rejected
    )
    count = len(before) if independent is None else independent
    scale = count / len(before)
    gain = paired_difference(
        both=scale * sum(b and a for b, a in zip(before, after, strict=True)),
        first_only=scale * sum(a and not b for b, a in zip(before, after, strict=True)),
        second_only=scale * sum(b and not a for b, a in zip(before, after, strict=True)),
        neither=scale * sum(not b and not a for b, a in zip(before, after, strict=True)),
    )
    return {
        **_named("start_accuracy", "start", wilson(scale * sum(before), count)),
        **_named("end_accuracy", "end", wilson(scale * sum(after), count)),
        **_named("gain", "gain", gain),
        **_named("margin", "margin", bootstrap_mean(gap.tolist())),
        "pairs": float(len(before)),
        "implicit_accuracy": float((gap > 0).float().mean()),
    }


def _named(value: str, bounds: str, interval: Interval) -> dict[str, float]:
    return {value: interval.value, f"{bounds}_low": interval.low, f"{bounds}_high": interval.high}
