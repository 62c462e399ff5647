"""Learning from the best of the dropped episodes by imitation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from contracts.errors import DataUnusable
from contracts.steps import Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.sft_learner import SftLearner
from training.episodes.artifact import TRAIN, read_demonstrations, read_labelled
from training.episodes.cut_report import cut_figures, cut_words
from training.episodes.encoding import Row, encode_trajectories
from training.episodes.order import batch_at
from training.events import Event
from training.lessons.label_look import LabelLook, looks_at
from training.lessons.lesson import Beginning, Classroom, Lesson
from trajectories.trajectory import Trajectory

_PLAYED_SHARE = 0.5
"""Of an environment's episodes, where the recipe does not say."""


class SftLesson(Lesson):
    """The top share of the episodes by return: demonstrations, or those that are good."""

    def __init__(self, room: Classroom, beginning: Beginning, recipe: Sft) -> None:
        super().__init__(room, beginning)
        self.recipe = recipe
        self.size = recipe.steps
        self.checkpoint_every = recipe.checkpoint_every
        self._look: LabelLook | None = None

    def prepare(self, *, fresh: bool) -> Iterator[Event]:
        """Read the best episodes.

        Raises:
            DataUnusable: there are none.
        """
        del fresh
        yield from ()
        room = self.room
        plays = room.assignment.plan.pipeline.environment is not None
        with room.watch.stage("data"):
            self._rows = self._encode(plays=plays)
            self._look = None if plays else LabelLook(room)
        self.optimizer = make_optimizer(room.model.parameters())
        self._learner = SftLearner(
            room.model, self.optimizer, self.recipe, room.pad, room.device, room.party
        )

    def open(self) -> None:
        """Look at held-out episodes, where there is no environment to play in."""
        self._look_at_held_out()

    def advance(self) -> Iterator[None]:
        """One optimiser step."""
        yield from ()
        indices = batch_at(
            self.done,
            pairs=len(self._rows),
            batch_size=self.recipe.batch_size,
            seed=self.seed,
        )
        with self.room.watch.stage("training"):
            loss = self._learner.step(self.done, [self._rows[index] for index in indices])
        self.done += 1
        self.figures["loss"] = loss
        if looks_at(self.done, self.size):
            self._look_at_held_out()

    def _look_at_held_out(self) -> None:
        look = self._look
        if look is not None:
            with self.room.watch.stage("looking at held-out episodes"):
                self.figures |= self.room.party.from_first(lambda: look.at(self.room.model))

    def _encode(self, *, plays: bool) -> list[Row]:
        episodes = self._episodes(plays=plays)
        share = self.recipe.top_share or (_PLAYED_SHARE if plays else 1.0)
        chosen = best(episodes, share)
        rows, cut = encode_trajectories(chosen, self.room.tokenizer, context=self.room.context)
        said = [row for row in rows if any(row.learn)]
        if not said:
            raise DataUnusable("there is no episode to learn from by sft; drop some")
        self.counts = {
            "train_episodes": float(len(said)),
            "train_episodes_left_out": float(len(episodes) - len(said)),
        } | cut_figures(cut, "train_")
        rewards = [one.reward for one in chosen if one.reward is not None]
        if rewards:
            self.counts["train_least_reward"] = min(rewards)
        self.notes = cut_words(cut, "episodes", context=self.room.context)
        return said

    def _episodes(self, *, plays: bool) -> list[Trajectory]:
        if plays:
            return read_demonstrations(self.room.episodes)
        return [one.trajectory for one in read_labelled(self.room.episodes, TRAIN) if one.good]


def best(episodes: Sequence[Trajectory], share: float) -> list[Trajectory]:
    """The top share by return, the highest first; of equal ones those of the lower ids.

    One that nobody judged stands for the best, as it was given to be imitated.

    Args:
        episodes: any number.
        share: over 0 … 1; at least one stays where there is one.
    """
    ranked = sorted(episodes, key=lambda one: (-_return(one), one.id))
    return ranked[: math.ceil(share * len(ranked))]


def _return(one: Trajectory) -> float:
    return math.inf if one.reward is None else one.reward
