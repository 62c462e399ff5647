"""Learning from pairs by DPO."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from contracts.counting import counted
from contracts.errors import DataUnusable
from contracts.steps import Dpo
from training.algorithms.descent import make_optimizer
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.dpo_learner import DpoLearner
from training.algorithms.logprobs import score_groups
from training.episodes.artifact import HELD_OUT, TRAIN, pairs_in
from training.episodes.cut_report import cut_figures, cut_words
from training.episodes.encoding import EncodedPair, each_pair, encode_pairs
from training.episodes.fitting import Loss
from training.episodes.order import batch_at
from training.episodes.shelf import Shelf, shelf_of_pairs
from training.events import Event
from training.lessons.held_out_look import HeldOutLook, looks_at
from training.lessons.lesson import Beginning, Classroom, Lesson
from training.lessons.reference import ReferenceCache
from training.models.protocols import CausalModel

if TYPE_CHECKING:
    from torch import Tensor


class DpoLesson(Lesson):
    """Pairs, held to the policy that the lesson began from."""

    def __init__(self, room: Classroom, beginning: Beginning, recipe: Dpo) -> None:
        super().__init__(room, beginning)
        self.recipe = recipe
        self.size = recipe.steps
        self.checkpoint_every = recipe.checkpoint_every

    def prepare(self, *, fresh: bool) -> Iterator[Event]:
        """Read the pairs, and score them with the policy that the lesson began from.

        Raises:
            DataUnusable: within the context, no pair's answers differ.
        """
        room = self.room
        with room.watch.stage("data"):
            self._pairs, look = self._encode()
        with room.watch.stage("reference"):
            seen = yield from self._refer(look, room.model if fresh else None)
        self._reference = seen["train"]
        self._look = HeldOutLook(look, seen["held_out"], room.pad, room.device)
        self.optimizer = make_optimizer(room.model.parameters())
        self._learner = DpoLearner(
            room.model, self.optimizer, self.recipe, room.pad, room.device, room.party
        )

    def open(self) -> None:
        """Look at held-out pairs."""
        self._look_at_held_out()

    def advance(self) -> Iterator[None]:
        """One optimiser step."""
        yield from ()
        with self.room.watch.stage("training"):
            self._one_step()
        if looks_at(self.done, self.size):
            self._look_at_held_out()

    def _one_step(self) -> None:
        indices = batch_at(
            self.done,
            pairs=len(self._pairs),
            batch_size=self.recipe.batch_size,
            seed=self.seed,
        )
        reference = self._reference
        figures = self._learner.step(
            self.done,
            [self._pairs[index] for index in indices],
            AnswerLogProbs(reference.chosen[indices], reference.rejected[indices]),
        )
        self.done += 1
        self.figures |= asdict(figures)

    def _look_at_held_out(self) -> None:
        with self.room.watch.stage("looking at held-out pairs"):
            self.figures |= self.room.party.from_first(
                lambda: self._look.at(self.room.model, self.recipe)
            )

    def _refer(
        self, look: list[EncodedPair], model: CausalModel | None
    ) -> Generator[Event, None, dict[str, AnswerLogProbs]]:
        """What the policy that the lesson began from gives the pairs."""
        room = self.room
        parts: dict[str, Sequence[EncodedPair]] = {"train": self._pairs, "held_out": look}

        def scoring(policy: CausalModel) -> Iterator[dict[str, Tensor]]:
            for name, pairs in parts.items():
                yield _by_name(name, AnswerLogProbs(*_empty()))
                for scores in score_groups(policy, pairs, pad=room.pad, device=room.device):
                    yield _by_name(name, scores.sums)

        seen = [
            [pair.prompt, *((side.ids, side.learn) for side in (pair.chosen, pair.rejected))]
            for pair in look
        ]
        ids = {"train": self._pairs.digest, "held_out": seen}
        cache = ReferenceCache(room, self.beginning)
        what = counted(len(self._pairs) + len(look), "pair")
        kept = yield from cache.get(ids, scoring, model, what=what)
        return {
            name: AnswerLogProbs(*(kept[f"{name}/{side}"] for side in AnswerLogProbs._fields))
            for name in parts
        }

    def _encode(self) -> tuple[Shelf[EncodedPair], list[EncodedPair]]:
        room, context = self.room, self.room.context
        pairs, loss, alike = shelf_of_pairs(room.assignment.folder), Loss(), 0
        train = pairs_in(room.episodes, TRAIN)
        for pair, lost in each_pair(train, room.tokenizer, context=context):
            loss += lost
            if pair.distinct:
                pairs.add(pair)
            else:
                alike += 1
        if not pairs:
            raise DataUnusable(
                f"within model.context of {context} tokens no pair's answers differ; raise it"
            )
        self.counts = {
            "train_pairs": float(len(pairs)),
            "train_pairs_alike": float(alike),
        } | cut_figures(loss, "train_")
        self.notes = cut_words(loss, "pairs", context=context)
        held_out = list(islice(pairs_in(room.episodes, HELD_OUT), HeldOutLook.PAIRS))
        look, _ = encode_pairs(held_out, room.tokenizer, context=context)
        return pairs, look


def _by_name(name: str, sums: AnswerLogProbs) -> dict[str, Tensor]:
    return {f"{name}/{side}": getattr(sums, side) for side in AnswerLogProbs._fields}


def _empty() -> tuple[Tensor, Tensor]:
    import torch

    return torch.zeros(0), torch.zeros(0)
