"""Which pairs a step trains on: a pure function of seed and step, so resuming needs no cursor."""

from __future__ import annotations

import random
from array import array
from functools import lru_cache


def batch_at(step: int, *, pairs: int, batch_size: int, seed: int) -> list[int]:
    """Indices of the pairs of one optimiser step.

    Epochs are laid end to end, each a permutation of all pairs, and cut into batches, so that
    no pair is left out or taken twice within an epoch, whatever the batch size.

    Args:
        step: counted from 0.
        pairs: how many there are, at least one.
        batch_size: indices to return.
        seed: of the order.
    """
    first = step * batch_size
    return [
        _permutation(place // pairs, pairs, seed)[place % pairs]
        for place in range(first, first + batch_size)
    ]


@lru_cache(maxsize=4)
def _permutation(epoch: int, pairs: int, seed: int) -> array[int]:
    order = array("q", range(pairs))
    random.Random(f"{seed}:{epoch}").shuffle(order)  # noqa: S311 - an order, not a secret
    return order
