"""What can be learnt from all that was dropped, and from which of it a pipeline learns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contracts.counting import counted
from contracts.pipeline import DataRules
from trajectories.choosing import Kind, choose
from trajectories.labelling import Labelled, has_images, is_learnable, labelled, sides_of, teaches
from trajectories.pair import Pair
from trajectories.pairing_episodes import pairs_of
from trajectories.splitting import (
    split_by,
    split_within_prompts,
    task_is_held_out,
    task_of,
)
from trajectories.trajectory import Trajectory

__all__ = ["Kind", "Labelled", "Learnable", "learnable"]
_Labels = tuple[Labelled, ...]


class Learnable(NamedTuple):
    """All distinct, and in an order that does not depend on how the drops came.

    Attributes:
        training: pairs.
        held_out: pairs of other tasks; with an environment, of the same.
        demonstrations: episodes to imitate, with an environment.
        labelled_training: good and bad episodes, without one.
        labelled_held_out: those of other tasks.
        kind: what a step that may choose is to learn from; `nothing` when nothing is there.
        why: one sentence with numbers.
    """

    training: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    demonstrations: tuple[Trajectory, ...]
    labelled_training: _Labels = ()
    labelled_held_out: _Labels = ()
    kind: Kind = "nothing"
    why: str = ""


def learnable(
    pairs: Iterable[Pair],
    trajectories: Iterable[Trajectory],
    rules: DataRules,
    *,
    plays: bool,
) -> Learnable:
    """Sort out what usable records are good for.

    Episodes are paired within their tasks, and the pairs join those that were dropped as such.
    A policy that is judged by what was dropped keeps whole tasks from training. One that plays
    is judged by fresh games on seeds of their own, so no task is kept from it: every episode is
    a demonstration, and the pairs held out serve to look at.

    Pairs and labels are both given where there are both: `kind` says which of them is learnt
    from by a step that leaves it to the data. Dropped pairs count as labels, too: their
    preferred side as good, the other as bad.

    Args:
        pairs: usable ones; those that show images, or have a side that is not to be learnt, are
            left out.
        trajectories: usable ones; those that hold no turn to learn, or images, are left out.
        rules: the pipeline's.
        plays: whether the pipeline has an environment.
    """
    given = [pair for pair in pairs if _compares(pair)]
    distinct = {one.id: one for one in trajectories}
    episodes = [distinct[id_] for id_ in sorted(distinct) if is_learnable(distinct[id_])]
    ordered = _pairs(given, episodes, rules)
    if plays:
        sides = split_within_prompts(ordered, rules.held_out_share)
        kind: Kind = "episodes" if episodes else "pairs" if ordered else "nothing"
        why = (
            f"{counted(len(episodes), 'episode')} and {counted(len(ordered), 'pair')} "
            "for a policy that plays"
        )
        return Learnable(*sides, tuple(episodes), kind=kind, why=why)
    share = rules.held_out_share
    training, held_out = split_by(ordered, lambda pair: task_is_held_out(task_of(pair), share))
    labels = _labels(given, episodes, rules)
    learnt, kept = split_by(labels, lambda one: task_is_held_out(one.trajectory.task, share))
    kind, why = choose((len(training), len(held_out)), learnt + kept, len(episodes), rules)
    return Learnable(training, held_out, (), learnt, kept, kind, why)


def _compares(pair: Pair) -> bool:
    """Whether both sides are to be learnt from, by a policy of text."""
    shows = has_images((*pair.prompt, *pair.chosen, *pair.rejected))
    return teaches(pair.chosen) and teaches(pair.rejected) and not shows


def _pairs(given: Sequence[Pair], episodes: Sequence[Trajectory], rules: DataRules) -> list[Pair]:
    made = pairs_of(episodes, min_gap=rules.min_reward_gap, per_task=rules.pairs_per_task)
    all_pairs = {pair.id: pair for pair in (*made, *given)}
    return [all_pairs[id_] for id_ in sorted(all_pairs)]


def _labels(
    given: Sequence[Pair], episodes: Sequence[Trajectory], rules: DataRules
) -> list[Labelled]:
    made = {one.trajectory.id: one for one in labelled(episodes, rules.good_reward)}
    for pair in given:
        for one in sides_of(pair, task_of(pair)):
            made.setdefault(one.trajectory.id, one)
    return [made[id_] for id_ in sorted(made)]
