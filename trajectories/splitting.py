"""Which pairs are held out: decided by a digest, so by nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trajectories.pair import Pair

_DIGITS = 16
_ALL = 1 << (4 * _DIGITS)
Sides = tuple[tuple[Pair, ...], tuple[Pair, ...]]


def is_held_out(pair: Pair, share: float) -> bool:
    """Whether the pair is kept from training.

    Pairs of one prompt fall on one side, in every run and file; raising the share only adds.

    Args:
        pair: the pair.
        share: of all prompts, within 0..1.
    """
    return _is_below(pair.prompt_digest, share)


def split(pairs: Iterable[Pair], share: float) -> Sides:
    """Pairs to train on, and pairs held out, both in the order given."""
    return _split(pairs, lambda pair: is_held_out(pair, share))


def split_within_prompts(pairs: Iterable[Pair], share: float) -> Sides:
    """The same by each pair's own digest.

    Pairs of one game share its opening, so a split by prompts would put all on one side. What
    is set aside here shares episodes with what is trained on: good for a look at how training
    goes, not for a judgement.
    """
    return _split(pairs, lambda pair: _is_below(pair.id, share))


def _is_below(hexadecimal: str, share: float) -> bool:
    return int(hexadecimal[:_DIGITS], 16) < share * _ALL


def _split(pairs: Iterable[Pair], held: Callable[[Pair], bool]) -> Sides:
    training: list[Pair] = []
    held_out: list[Pair] = []
    for pair in pairs:
        (held_out if held(pair) else training).append(pair)
    return tuple(training), tuple(held_out)
