"""The learning rate over the steps."""

from __future__ import annotations

import math

FLOOR = 0.1
"""Share of the peak that is left at the last step."""
ITERATION_FLOOR = 0.2
"""Share of the peak that is left at the last iteration."""


def learning_rate(step: int, *, peak: float, warmup: int, steps: int) -> float:
    """Linear from 0 over the warm-up, then half a cosine down to a tenth of the peak.

    Args:
        step: counted from 0.
        peak: the highest rate.
        warmup: steps until it; a warm-up as long as the training never comes down.
        steps: of the whole training.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    gone = (step - warmup) / max(1, steps - 1 - warmup)
    return peak * (FLOOR + (1 - FLOOR) * (1 + math.cos(math.pi * min(1.0, gone))) / 2)


def iteration_rate(iteration: int, *, peak: float, warmup: int, iterations: int) -> float:
    """Linear from 0 over the warm-up, then linear down to a fifth of the peak.

    Args:
        iteration: counted from 0.
        peak: the highest rate.
        warmup: iterations until it.
        iterations: of the whole training.
    """
    if iteration < warmup:
        return peak * (iteration + 1) / warmup
    gone = (iteration - warmup) / max(1, iterations - 1 - warmup)
    return peak * (1 - (1 - ITERATION_FLOOR) * min(1.0, gone))
