"""Whether an episode was good: by its label, by its reward, or because nobody says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trajectories.conversations import as_given
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory


class Labelled(NamedTuple):
    """A trajectory, and whether it is one to imitate or one to avoid."""

    trajectory: Trajectory
    good: bool


def is_good(one: Trajectory, good_reward: float) -> bool:
    """Judge an episode.

    Args:
        one: the episode.
        good_reward: the least reward of a good one, where it has no label.
    """
    if one.label is not None:
        return one.label
    return one.reward is None or one.reward >= good_reward


def is_learnable(one: Trajectory) -> bool:
    """Whether the policy said something in it that is to be learnt, and could see what we see.

    Policies are of text: one that answers to an image answers to nothing that it is given.
    """
    return teaches(one.messages) and not has_images(one.messages)


def compares(pair: Pair) -> bool:
    """Whether both sides are to be learnt from, by a policy of text."""
    shows = has_images((*pair.prompt, *pair.chosen, *pair.rejected))
    return teaches(pair.chosen) and teaches(pair.rejected) and not shows


def teaches(turns: Iterable[Message]) -> bool:
    """Whether the policy says something in these turns that is to be learnt."""
    return any(turn.role == "assistant" and turn.learnt for turn in turns)


def has_images(turns: Iterable[Message]) -> bool:
    """Whether some turn shows an image."""
    return any(turn.images for turn in turns)


def labelled(trajectories: Iterable[Trajectory], good_reward: float) -> Iterator[Labelled]:
    """Label those that can be learnt from, in the order given."""
    for one in trajectories:
        if is_learnable(one):
            yield Labelled(one, is_good(one, good_reward))


def sides_of(pair: Pair, task: str) -> tuple[Labelled, Labelled]:
    """The preferred answer as a good episode, the other as a bad one.

    What the assistant says in the prompt is the same in both, so neither label is of it: it is
    given, not learnt.
    """
    prompt = as_given(pair.prompt)
    made = (
        Trajectory.of(task, "", None, (*prompt, *answer), label=good, tools=pair.tools)
        for answer, good in ((pair.chosen, True), (pair.rejected, False))
    )
    good, bad = made
    return Labelled(good, True), Labelled(bad, False)
