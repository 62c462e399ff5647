"""Learning from good and bad episodes by KTO."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from contracts.counting import counted
from contracts.errors import DataUnusable
from contracts.steps import Kto
from training.algorithms.descent import make_optimizer
from training.algorithms.kto_learner import Examples, KtoLearner
from training.algorithms.logprobs import score_rows
from training.episodes.artifact import TRAIN, labelled_in
from training.episodes.cut_report import cut_figures, cut_words
from training.episodes.order import batch_at
from training.events import Event
from training.lessons.label_look import LabelLook, looks_at
from training.lessons.labelled import LabelledRows, encode_labelled
from training.lessons.lesson import Beginning, Classroom, Lesson
from training.lessons.reference import ReferenceCache
from training.models.protocols import CausalModel

if TYPE_CHECKING:
    from torch import Tensor


class KtoLesson(Lesson):
    """Episodes, held to the policy that the lesson began from."""

    def __init__(self, room: Classroom, beginning: Beginning, recipe: Kto) -> None:
        super().__init__(room, beginning)
        self.recipe = recipe
        self.size = recipe.steps
        self.checkpoint_every = recipe.checkpoint_every

    def prepare(self, *, fresh: bool) -> Iterator[Event]:
        """Read the episodes, and score them with the policy that the lesson began from.

        Raises:
            DataUnusable: good or bad ones are lacking.
        """
        import torch

        room = self.room
        with room.watch.stage("data"):
            made = self._encode()
            self._look = LabelLook(room)
        with room.watch.stage("reference"):
            kept = yield from self._refer(made, room.model if fresh else None)
        good = torch.tensor(made.good)
        self._examples = Examples(
            made.rows, made.mismatched, good, kept["rows"], kept["mismatched"]
        )
        self.optimizer = make_optimizer(room.model.parameters())
        self._learner = KtoLearner(
            room.model, self.optimizer, self.recipe, room.pad, room.device, room.party
        )

    def open(self) -> None:
        """Look at held-out episodes."""
        self._look_at_held_out()

    def advance(self) -> Iterator[None]:
        """One optimiser step."""
        yield from ()
        indices = batch_at(
            self.done,
            pairs=len(self._examples.rows),
            batch_size=self.recipe.batch_size,
            seed=self.seed,
        )
        with self.room.watch.stage("training"):
            figures = self._learner.step(self.done, self._examples.at(indices))
        self.done += 1
        self.figures |= asdict(figures)
        if looks_at(self.done, self.size):
            self._look_at_held_out()

    def _look_at_held_out(self) -> None:
        with self.room.watch.stage("looking at held-out episodes"):
            self.figures |= self.room.party.from_first(lambda: self._look.at(self.room.model))

    def _refer(
        self, made: LabelledRows, model: CausalModel | None
    ) -> Generator[Event, None, Mapping[str, Tensor]]:
        room = self.room
        parts = {"rows": made.rows, "mismatched": made.mismatched}

        def scoring(policy: CausalModel) -> Iterator[dict[str, Tensor]]:
            for name, rows in parts.items():
                for scores in score_rows(policy, rows, pad=room.pad, device=room.device):
                    yield {name: scores.sums}

        ids = {name: rows.digest for name, rows in parts.items()}
        cache = ReferenceCache(room, self.beginning)
        return (yield from cache.get(ids, scoring, model, what=counted(len(made.rows), "episode")))

    def _encode(self) -> LabelledRows:
        context = self.room.context
        made = encode_labelled(
            labelled_in(self.room.episodes, TRAIN),
            self.room.tokenizer,
            context=context,
            mismatch=True,
            folder=self.room.assignment.folder,
        )
        if len(set(made.good)) < 2:  # noqa: PLR2004 - good ones and bad ones
            raise DataUnusable("kto learns from good and bad episodes; drop both kinds")
        self.counts = {
            "train_good": float(sum(made.good)),
            "train_bad": float(len(made.good) - sum(made.good)),
            "train_silent": float(made.silent),
        } | cut_figures(made.loss, "train_")
        self.notes = cut_words(made.loss, "episodes", context=context)
        return made
