"""What can be learnt from all that was dropped: pairs on their two sides, and demonstrations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from contracts.pipeline import DataRules
from trajectories.pair import Pair
from trajectories.pairing_episodes import pairs_of
from trajectories.splitting import split, split_within_prompts
from trajectories.trajectory import Trajectory


class Learnable(NamedTuple):
    """All distinct, and in an order that does not depend on how the drops came."""

    training: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    demonstrations: tuple[Trajectory, ...]


def learnable(
    pairs: Iterable[Pair],
    trajectories: Iterable[Trajectory],
    rules: DataRules,
    *,
    plays: bool,
) -> Learnable:
    """Sort out what usable records are good for.

    Episodes are paired within their tasks, and the pairs join those that were dropped as such.
    A policy that is judged by pairs keeps whole prompts from training. One that plays is judged
    by fresh games on seeds of their own, so no task is kept from it: every episode is a
    demonstration, and the pairs held out serve to look at.

    Args:
        pairs: usable ones.
        trajectories: usable ones.
        rules: the pipeline's.
        plays: whether the pipeline has an environment.
    """
    episodes = {one.id: one for one in trajectories}
    demonstrations = tuple(episodes[id_] for id_ in sorted(episodes))
    made = pairs_of(demonstrations, min_gap=rules.min_reward_gap, per_task=rules.pairs_per_task)
    all_pairs = {pair.id: pair for pair in (*pairs, *made)}
    ordered = [all_pairs[id_] for id_ in sorted(all_pairs)]
    sides = (split_within_prompts if plays else split)(ordered, rules.held_out_share)
    return Learnable(*sides, demonstrations if plays else ())
