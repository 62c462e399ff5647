"""Learning from the best of the dropped episodes by imitation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from contracts.errors import DataUnusable
from contracts.pipeline import Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.sft_learner import SftLearner
from training.episodes.artifact import read_demonstrations
from training.episodes.encoding import Row, encode_trajectories
from training.episodes.order import batch_at
from training.events import Event
from training.lessons.lesson import Beginning, Classroom, Lesson
from trajectories.trajectory import Trajectory


class SftLesson(Lesson):
    """The top share of the demonstrations, by return."""

    def __init__(self, room: Classroom, beginning: Beginning, recipe: Sft) -> None:
        super().__init__(room, beginning)
        self.recipe = recipe
        self.size = recipe.steps
        self.checkpoint_every = recipe.checkpoint_every

    def prepare(self, *, fresh: bool) -> Iterator[Event]:
        """Read the best demonstrations.

        Raises:
            DataUnusable: there are none.
        """
        del fresh
        yield from ()
        room = self.room
        with room.watch.stage("data"):
            self._rows = self._encode()
        self.optimizer = make_optimizer(room.model.parameters())
        self._learner = SftLearner(
            room.model, self.optimizer, self.recipe, room.pad, room.device, room.party
        )

    def advance(self) -> Iterator[None]:
        """One optimiser step."""
        yield from ()
        indices = batch_at(
            self.done,
            pairs=len(self._rows),
            batch_size=self.recipe.batch_size,
            seed=self.room.assignment.seed,
        )
        with self.room.watch.stage("training"):
            loss = self._learner.step(self.done, [self._rows[index] for index in indices])
        self.done += 1
        self.figures["loss"] = loss

    def _encode(self) -> list[Row]:
        demonstrations = read_demonstrations(self.room.episodes)
        chosen = best(demonstrations, self.recipe.top_share)
        if not chosen:
            raise DataUnusable("there is no episode to learn from by sft; drop some")
        rows, cut = encode_trajectories(chosen, self.room.tokenizer, context=self.room.context)
        self.counts = {
            "train_episodes": float(len(rows)),
            "train_episodes_left_out": float(len(demonstrations) - len(rows)),
            "train_least_reward": chosen[-1].reward,
            "train_prompts_cut": float(cut.prompts),
            "train_answers_cut": float(cut.answers),
        }
        return rows


def best(demonstrations: Sequence[Trajectory], share: float) -> list[Trajectory]:
    """The top share by return, the highest first; of equal ones those of the lower ids.

    Args:
        demonstrations: any number.
        share: over 0 … 1; at least one stays where there is one.
    """
    ranked = sorted(demonstrations, key=lambda one: (-one.reward, one.id))
    return ranked[: math.ceil(share * len(ranked))]
