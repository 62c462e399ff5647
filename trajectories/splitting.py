"""Which pairs are held out: decided by the prompt's digest, so by nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from trajectories.pair import Pair

_DIGITS = 16
_ALL = 1 << (4 * _DIGITS)


def is_held_out(pair: Pair, share: float) -> bool:
    """Whether the pair is kept from training.

    Pairs of one prompt fall on one side, in every run and file; raising the share only adds.

    Args:
        pair: the pair.
        share: of all prompts, within 0..1.
    """
    return int(pair.prompt_digest[:_DIGITS], 16) < share * _ALL


def split(pairs: Iterable[Pair], share: float) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Pairs to train on, and pairs held out, both in the order given."""
    training: list[Pair] = []
    held_out: list[Pair] = []
    for pair in pairs:
        (held_out if is_held_out(pair, share) else training).append(pair)
    return tuple(training), tuple(held_out)
