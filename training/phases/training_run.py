"""One training, from loading to the last step: what it has, where it stands, how it goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from contracts.errors import ContractBroken, DataUnusable
from contracts.model import canonical_json, digest
from contracts.pipeline import Dpo
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.learner import Figures, Learner, make_optimizer
from training.algorithms.state import (
    TrainingState,
    load_generators,
    load_optimizer,
    save_training,
)
from training.assignment import Assignment
from training.checkpoints.resuming import newest_complete
from training.checkpoints.series import Place, Series
from training.episodes.artifact import HELD_OUT, TRAIN, read_pairs_of
from training.episodes.encoding import EncodedPair, encode_pairs
from training.episodes.order import batch_at
from training.events import Advance, Event, Materials
from training.models.folders import load_model, load_tokenizer, pad_of, save_policy
from training.models.runtime import prepare_runtime
from training.phases.held_out_look import HeldOutLook, looks_at
from training.phases.reference import ReferenceCache
from training.stopwatch import Stopwatch

logger = logging.getLogger(__name__)


class TrainingRun:
    """The state of one attempt's training.

    Attributes:
        step: optimiser steps done.
        stopped: whether it ended early because it was asked to.
        resumed_from: the checkpoint that it went on from, in words.
        notes: what an operator should know.
        watch: where the time went.
    """

    def __init__(self, assignment: Assignment, materials: Materials) -> None:
        self.assignment = assignment
        self.start: Path = materials["start"]
        self.episodes: Path = materials["episodes"]
        self.step = 0
        self.stopped = False
        self.resumed_from = ""
        self.notes: list[str] = []
        self.watch = Stopwatch()
        self._figures: dict[str, float] = {}
        self._counts: dict[str, float] = {}

    @property
    def recipe(self) -> Dpo:
        """The round's hyperparameters."""
        return self.assignment.plan.pipeline.rounds[self.assignment.spec.round - 1].optimize

    def load(self) -> Iterator[Event]:
        """Load data and reference, then the start or the newest checkpoint.

        Raises:
            DataUnusable: within the context, no pair's answers differ.
        """
        yield Advance("Loading the policy", steps=self.recipe.steps)
        with self.watch.stage("imports"):
            self._device = prepare_runtime(self.assignment)
        with self.watch.stage("data"):
            self._tokenizer = load_tokenizer(self.start)
            self._pad = pad_of(self._tokenizer)
            self._pairs, look = self._encode()
        with self.watch.stage("loading"):
            place = self._newest_checkpoint()
            self._model = load_model(place.folder if place else self.start, device=self._device)
        with self.watch.stage("reference"):
            cache = ReferenceCache(self.assignment, self.start, self._device, self._pad)
            parts = {"train": self._pairs, "held_out": look}
            self._reference = yield from cache.get(parts, None if place else self._model)
        self._look = HeldOutLook(look, self._reference["held_out"], self._pad, self._device)
        self._learner = Learner(
            self._model,
            make_optimizer(self._model, self.recipe),
            self.recipe,
            self._pad,
            self._device,
        )
        if place:
            yield self._resume(place)

    def train(self) -> Iterator[Event]:
        """Go on to the last step, with a checkpoint every so often and one at the end."""
        if self.step < self.recipe.steps:
            self._look_at_held_out()
        while self.step < self.recipe.steps and not self.stopped:
            with self.watch.stage("training"):
                self._report_step(self._one_step())
            if looks_at(self.step, self.recipe.steps):
                self._look_at_held_out()
            yield Advance("Training", self.step, self.recipe.steps, dict(self._figures))
            self.stopped = self._asked_to_stop()
            if self.stopped or self._checkpoint_is_due():
                self._save()

    def write_policy(self, folder: Path) -> None:
        """Write model and tokenizer as a folder that `from_pretrained` loads."""
        save_policy(folder, self._model, self._tokenizer)

    def metrics(self) -> dict[str, float]:
        """The last figures, and how much was learnt from."""
        return self._figures | self._counts | {"steps": float(self.step)}

    def _encode(self) -> tuple[list[EncodedPair], list[EncodedPair]]:
        context = self.assignment.plan.pipeline.model.context
        encoded, cut = encode_pairs(
            read_pairs_of(self.episodes, TRAIN), self._tokenizer, context=context
        )
        pairs = [pair for pair in encoded if pair.distinct]
        if not pairs:
            raise DataUnusable(
                f"within model.context of {context} tokens no pair's answers differ; raise it"
            )
        self._counts = {
            "train_pairs": float(len(pairs)),
            "train_pairs_alike": float(len(encoded) - len(pairs)),
            "train_prompts_cut": float(cut.prompts),
            "train_answers_cut": float(cut.answers),
        }
        held_out = read_pairs_of(self.episodes, HELD_OUT)[: HeldOutLook.PAIRS]
        look, _ = encode_pairs(held_out, self._tokenizer, context=context)
        return pairs, look

    def _fingerprint(self) -> str:
        spec = self.assignment.spec
        return digest(
            canonical_json(
                {
                    "start": spec.inputs["start"].manifest,
                    "episodes": spec.inputs["episodes"].manifest,
                    "recipe": self.recipe.model_dump(mode="json"),
                    "context": self.assignment.plan.pipeline.model.context,
                    "seed": self.assignment.seed,
                }
            )
        )

    def _newest_checkpoint(self) -> Place | None:
        spec = self.assignment.spec
        self._series = Series(self.assignment.series, spec.run, spec.attempt)
        self._series.open()
        search = newest_complete(self._series, refuse=self._refuse)
        for sentence in search.skipped:
            logger.warning(sentence)
        for place in search.refused:
            self._series.set_aside(place)
        self.notes += search.skipped
        return search.found

    def _refuse(self, folder: Path) -> str | None:
        try:
            state = TrainingState.read(folder)
        except (ContractBroken, OSError) as error:
            return str(error)
        if state.fingerprint != self._fingerprint():
            return "it is of another start, other data or another recipe"
        return None

    def _resume(self, place: Place) -> Event:
        state = TrainingState.read(place.folder)
        load_optimizer(place.folder, self._model, self._learner.optimizer)
        load_generators(place.folder, state)
        self.step = state.step
        self._figures = dict(state.metrics)
        self.resumed_from = str(place)
        logger.info("going on from %s", place)
        return Advance(f"Going on from {place}", self.step, self.recipe.steps, dict(self._figures))

    def _one_step(self) -> Figures:
        indices = batch_at(
            self.step,
            pairs=len(self._pairs),
            batch_size=self.recipe.batch_size,
            seed=self.assignment.seed,
        )
        reference = self._reference["train"]
        return self._learner.step(
            self.step,
            [self._pairs[index] for index in indices],
            AnswerLogProbs(reference.chosen[indices], reference.rejected[indices]),
        )

    def _report_step(self, figures: Figures) -> None:
        self.step += 1
        self._figures |= asdict(figures)

    def _look_at_held_out(self) -> None:
        with self.watch.stage("looking at held-out pairs"):
            self._figures |= self._look.at(self._model, self.recipe)

    def _asked_to_stop(self) -> bool:
        return self.assignment.stop_mark.exists()

    def _checkpoint_is_due(self) -> bool:
        return self.step % self.recipe.checkpoint_every == 0 or self.step == self.recipe.steps

    def _save(self) -> None:
        def fill(folder: Path) -> None:
            save_training(
                folder,
                model=self._model,
                tokenizer=self._tokenizer,
                optimizer=self._learner.optimizer,
                step=self.step,
                seed=self.assignment.seed,
                fingerprint=self._fingerprint(),
                metrics=self._figures,
            )

        with self.watch.stage("checkpoints"):
            self._series.save(self.step, fill)
