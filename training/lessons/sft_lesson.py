"""Learning from the best of the dropped episodes by imitation."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, compress

from contracts.errors import DataUnusable
from contracts.steps import Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.sft_learner import SftLearner
from training.episodes.artifact import TRAIN, demonstrations_in, episodes_in
from training.episodes.cut_report import cut_figures, cut_words
from training.episodes.encoding import Row, each_trajectory
from training.episodes.fitting import Loss
from training.episodes.order import batch_at
from training.episodes.shelf import Shelf, shelf_of_rows
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

    def _encode(self, *, plays: bool) -> Shelf[Row]:
        room = self.room
        share = self.recipe.top_share or (_PLAYED_SHARE if plays else 1.0)
        returns = array("d", (_return(one) for one in self._episodes(plays=plays)))
        chosen = best(returns, share)
        wanted = bytearray(len(returns))
        for place in chosen:
            wanted[place] = True
        taken = compress(self._episodes(plays=plays), wanted)
        rows = shelf_of_rows(room.assignment.folder)
        loss, silent = Loss(), set()
        for number, (row, lost) in enumerate(
            each_trajectory(taken, room.tokenizer, context=room.context)
        ):
            rows.add(row)
            loss += lost
            if not any(row.learn):
                silent.add(number)
        # They were read in the order of their ids, and are learnt from in that of their returns.
        number_of = accumulate(wanted, initial=0)
        numbers = array("q", number_of)
        rows.arrange(n for n in (numbers[place] for place in chosen) if n not in silent)
        if not rows:
            raise DataUnusable("there is no episode to learn from by sft; drop some")
        self.counts = {
            "train_episodes": float(len(rows)),
            "train_episodes_left_out": float(len(returns) - len(rows)),
        } | cut_figures(loss, "train_")
        rewards = [returns[place] for place in chosen if returns[place] < math.inf]
        if rewards:
            self.counts["train_least_reward"] = min(rewards)
        self.notes = cut_words(loss, "episodes", context=room.context)
        return rows

    def _episodes(self, *, plays: bool) -> Iterator[Trajectory]:
        """In the order of their ids."""
        if plays:
            return demonstrations_in(self.room.episodes)
        good = episodes_in(self.room.episodes, TRAIN, good=True)
        return (one.trajectory for one in good)


def best(returns: Sequence[float], share: float) -> list[int]:
    """Places of the top share by return, the highest first; of equal ones the earlier.

    One that nobody judged stands for the best, as it was given to be imitated.

    Args:
        returns: of any number of episodes; infinite where nobody judged.
        share: over 0 … 1; at least one stays where there is one.
    """
    ranked = sorted(range(len(returns)), key=lambda place: -returns[place])
    return ranked[: math.ceil(share * len(ranked))]


def _return(one: Trajectory) -> float:
    return math.inf if one.reward is None else one.reward
