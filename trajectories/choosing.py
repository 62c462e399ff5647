"""Pairs or labels: which of them a step learns from that leaves it to the data, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from contracts.counting import agreeing, counted
from contracts.pipeline import DataRules
from trajectories.labelling import Labelled

MIN_PAIRS = 8
"""Pairs that both sides of the split need before `auto` learns from them."""

Kind = Literal["pairs", "labels", "episodes", "nothing"]


class Choice(NamedTuple):
    """What is learnt from, and one sentence that says why."""

    kind: Kind
    why: str


def choose(
    pairs: tuple[int, int], labels: Sequence[Labelled], episodes: int, rules: DataRules
) -> Choice:
    """Choose for a pipeline without an environment.

    Args:
        pairs: how many to train on, and how many held out.
        labels: all of them, both sides of the split together.
        episodes: how many there are that the pairs may come from.
        rules: the pipeline's.
    """
    good = sum(one.good for one in labels)
    return choose_of_counts(pairs, (good, len(labels) - good), episodes, rules)


def choose_of_counts(
    pairs: tuple[int, int], labels: tuple[int, int], episodes: int, rules: DataRules
) -> Choice:
    """The same, by the numbers of pairs on both sides and of good and bad labels."""
    if not any(pairs) and not any(labels):
        return Choice("nothing", "nothing that was dropped can be learnt from")
    if rules.learn_from == "pairs":
        return Choice("pairs" if any(pairs) else "nothing", f"{_of(pairs)}, as the pipeline says")
    if rules.learn_from == "labels":
        kind: Kind = "labels" if any(labels) else "nothing"
        return Choice(kind, f"{_labels(labels, rules)}, as the pipeline says")
    if min(pairs) >= MIN_PAIRS or not any(labels):
        return Choice("pairs", f"{_of(pairs)} are learnt from")
    few = _few(sum(pairs), episodes)
    return Choice("labels", f"{few}, so labels are learnt from: {_labels(labels, rules)}")


def choose_for_play(episodes: int, pairs: int) -> Choice:
    """The same for a pipeline with an environment."""
    kind: Kind = "episodes" if episodes else "pairs" if pairs else "nothing"
    found = f"{counted(episodes, 'episode')} and {counted(pairs, 'pair')}"
    return Choice(kind, f"{found} for a policy that plays")


def _few(pairs: int, episodes: int) -> str:
    if not pairs and episodes:
        of = counted(episodes, "episode")
        return f"no two of {of} are of one task and opening with unlike rewards"
    source = f" from {counted(episodes, 'episode')}" if episodes else ""
    few = f"{counted(pairs, 'pair')}{source} {agreeing(pairs, 'is', 'are')} too few"
    return f"{few} ({MIN_PAIRS} needed on each side of the split)"


def _of(pairs: tuple[int, int]) -> str:
    return f"{counted(pairs[0], 'pair')} to train on and {pairs[1]:,} held out"


def _labels(labels: tuple[int, int], rules: DataRules) -> str:
    return (
        f"{labels[0]:,} good, {labels[1]:,} bad at reward ≥ {rules.good_reward:g} or by their label"
    )
