"""Student's distribution, Biometrika 6 (1908), 1–25: how far off a mean of few cases may be."""

from __future__ import annotations

import math

from training.statistics.proportions import Z

_FEW = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)
"""Two-sided 95% quantiles, where the expansion is not good enough."""


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
