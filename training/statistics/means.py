"""95% intervals of a mean: one that assumes no shape, and one for few cases."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from training.statistics.proportions import Interval, Z

RESAMPLES = 2_000
_FEW = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)
"""Two-sided 95% quantiles of Student's distribution, where its expansion is not good enough."""


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


def student_mean(values: Sequence[float]) -> Interval:
    """Student's interval, Biometrika 6 (1908), 1–25: wide where cases are few.

    Args:
        values: at least two.
    """
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / math.sqrt(len(values))
    half = student_quantile(len(values) - 1) * error
    return Interval(mean, mean - half, mean + half)


def student_quantile(freedom: int) -> float:
    """Two-sided 95% quantile, to three decimals.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.

    Args:
        freedom: degrees of freedom, at least one.
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    terms = (
        Z,
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
    )
    return math.fsum(term / float(freedom) ** power for power, term in enumerate(terms))
