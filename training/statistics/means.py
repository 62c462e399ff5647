"""A 95% interval of a mean that assumes no shape."""

from __future__ import annotations

from collections.abc import Sequence

from training.statistics.proportions import Interval

RESAMPLES = 2_000


def bootstrap_mean(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Percentile interval over resampled means.

    Source: Efron, Annals of Statistics 7 (1979), 1–26. The seed is fixed, so that the same
    figures have the same interval.

    Args:
        values: at least one.
        seed: of the resampling.
    """
    import numpy as np

    data = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for index in range(RESAMPLES):
        means[index] = data[generator.integers(0, len(data), len(data))].mean()
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(data.mean()), float(low), float(high))
