"""One training, from loading to its end: the recipe's lessons in turn, and what is saved."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import ContractBroken
from contracts.model import canonical_json, digest
from contracts.pipeline import Step
from training.algorithms.state import (
    TrainingState,
    load_generators,
    load_optimizer,
    refuse_unfinite,
    save_generators,
    save_optimizer,
)
from training.assignment import Assignment
from training.checkpoints.resuming import newest_complete
from training.checkpoints.series import Place, Series
from training.events import Advance, Event, Materials
from training.lessons.curriculum import begin, beginning_damaged, keep_beginning, kept_beginning
from training.lessons.curve import Curve, is_a_point
from training.lessons.lesson import Beginning, Classroom
from training.lessons.play_look import PlayLook
from training.models.folders import load_model, load_tokenizer, pad_of, save_policy
from training.models.runtime import prepare_runtime
from training.stopwatch import Stopwatch

logger = logging.getLogger(__name__)


class TrainingRun:
    """The state of one attempt's training.

    Attributes:
        stopped: whether it ended early because it was asked to.
        resumed_from: the checkpoint that it went on from, in words.
        notes: what an operator should know.
        watch: where the time went.
    """

    def __init__(self, assignment: Assignment, materials: Materials) -> None:
        self.assignment = assignment
        self.stopped = False
        self.resumed_from = ""
        self.notes: list[str] = []
        self.watch = Stopwatch()
        self._start: Path = materials["start"]
        self._episodes: Path = materials["episodes"]
        self._number = 0
        self._earlier: dict[str, float] = {}
        self._saved_at = 0

    @property
    def recipes(self) -> tuple[Step, ...]:
        """The round's steps."""
        return self.assignment.plan.pipeline.rounds[self.assignment.spec.round - 1].optimize

    @property
    def steps(self) -> int:
        """Units of all lessons: optimiser steps and iterations."""
        return sum(_size(recipe) for recipe in self.recipes)

    @property
    def step(self) -> int:
        """Units gone through, or left out by a lesson that ended early."""
        return sum(_size(recipe) for recipe in self.recipes[: self._number]) + self._lesson.done

    def load(self) -> Iterator[Event]:
        """Load the policy, from the start or the newest checkpoint, and the lesson it is at."""
        yield Advance("Loading the policy", steps=self.steps)
        with self.watch.stage("imports"):
            device = prepare_runtime(self.assignment)
        with self.watch.stage("loading"):
            place = self._newest_checkpoint()
            folder = place.folder if place else self._start
            tokenizer = load_tokenizer(self._start)
            self._room = Classroom(
                assignment=self.assignment,
                episodes=self._episodes,
                model=load_model(folder, device=device),
                tokenizer=tokenizer,
                pad=pad_of(tokenizer),
                device=device,
                watch=self.watch,
                asked_to_stop=self.assignment.stop_mark.exists,
            )
            self._curve = Curve(self.assignment.spec.run, folder)
        self._look = PlayLook(self._room)
        if place:
            yield from self._resume(place)
        else:
            yield from self._begin(0)

    def train(self) -> Iterator[Event]:
        """Go through what is left, with checkpoints every so often and at a lesson's end."""
        yield from self._go_on()
        while not self.stopped and self._number + 1 < len(self.recipes):
            yield from self._next()
            yield from self._go_on()

    def write_policy(self, folder: Path) -> None:
        """Write model and tokenizer as a folder that `from_pretrained` loads, and the curve."""
        save_policy(folder, self._room.model, self._room.tokenizer)
        self._curve.write(folder)

    def metrics(self) -> dict[str, float]:
        """The last figures, and how much was learnt from; `steps` counts units really done.

        Of a lesson before the last, figures have its algorithm's name in front: `sft_loss`.
        """
        lesson = self._lesson
        return self._earlier | lesson.figures | lesson.counts | {"steps": float(self.step)}

    def _begin(self, number: int) -> Iterator[Event]:
        """Start a lesson with the policy as it is."""
        start = Beginning(self._start, self.assignment.input("start").manifest)
        beginning = start if number == 0 else self._keep_beginning(number)
        self._number = number
        self._lesson = begin(self.recipes[number], self._room, beginning)
        yield from self._lesson.prepare(fresh=True)
        if number == 0:
            self._look_at_play("before")

    def _keep_beginning(self, number: int) -> Beginning:
        with self.watch.stage("checkpoints"):
            return keep_beginning(self._series, number, self.write_policy, step=self.step)

    def _next(self) -> Iterator[Event]:
        lesson, name = self._lesson, self.recipes[self._number].algorithm
        figures = lesson.figures | lesson.counts
        self._earlier |= {f"{name}_{figure}": value for figure, value in figures.items()}
        yield from self._begin(self._number + 1)

    def _go_on(self) -> Iterator[Event]:
        lesson = self._lesson
        if not lesson.finished:
            lesson.open()
        while not lesson.finished and not self.stopped:
            done = lesson.done
            for _ in lesson.advance():
                yield self._sign()
            if lesson.done > done:
                self._note_the_unit()
            yield self._sign()
            self.stopped = self._room.asked_to_stop()
            if self.stopped or lesson.finished or lesson.done % lesson.checkpoint_every == 0:
                self._save()

    def _note_the_unit(self) -> None:
        lesson = self._lesson
        if lesson.finished:
            self._look_at_play("after")
        if lesson.finished or is_a_point(lesson.done, lesson.size):
            self._add_point()

    def _look_at_play(self, when: str) -> None:
        self._lesson.figures |= self._look.at(when)
        if when == "before" and self._look.plays:
            self._add_point()

    def _add_point(self) -> None:
        place = {
            "round": self.assignment.spec.round,
            "lesson": self._number + 1,
            "algorithm": self.recipes[self._number].algorithm,
            "done": self._lesson.done,
            "step": self.step,
        }
        self._curve.add(place, self._lesson.figures)

    def _sign(self) -> Advance:
        stage = "Training"
        if len(self.recipes) > 1:
            name = self.recipes[self._number].algorithm
            stage = f"Training by {name}, {self._number + 1} of {len(self.recipes)}"
        return Advance(stage, self.step, self.steps, dict(self._lesson.figures))

    def _fingerprint(self) -> str:
        spec, pipeline = self.assignment.spec, self.assignment.plan.pipeline
        world = pipeline.environment
        return digest(
            canonical_json(
                {
                    "start": spec.inputs["start"].manifest,
                    "episodes": spec.inputs["episodes"].manifest,
                    "recipes": [recipe.model_dump(mode="json") for recipe in self.recipes],
                    "environment": world.model_dump(mode="json") if world else None,
                    "context": pipeline.model.context,
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
        return beginning_damaged(self._series, state.lesson, state.beginning)

    def _resume(self, place: Place) -> Iterator[Event]:
        state = TrainingState.read(place.folder)
        self._number = state.lesson
        self._earlier = dict(state.earlier)
        start = Beginning(self._start, state.beginning)
        beginning = kept_beginning(self._series, state.lesson, state.beginning) or start
        self._lesson = begin(self.recipes[state.lesson], self._room, beginning)
        yield from self._lesson.prepare(fresh=False)
        self._lesson.restore(place.folder, state.memory)
        load_optimizer(place.folder, self._lesson.parameters, self._lesson.optimizer)
        load_generators(place.folder, state)
        self._lesson.done = state.done
        self._lesson.figures = dict(state.metrics)
        self._saved_at = self.step
        self.resumed_from = str(place)
        logger.info("going on from %s", place)
        yield Advance(f"Going on from {place}", self.step, self.steps, dict(state.metrics))

    def _save(self) -> None:
        if self.step == self._saved_at:
            return
        with self.watch.stage("checkpoints"):
            self._series.save(self.step, self._fill)
        self._saved_at = self.step

    def _fill(self, folder: Path) -> None:
        lesson = self._lesson
        refuse_unfinite(lesson.parameters, self.step)
        self.write_policy(folder)
        save_optimizer(folder, lesson.parameters, lesson.optimizer)
        memory = lesson.save(folder)
        generators = save_generators(folder)
        state = TrainingState(
            step=self.step,
            lesson=self._number,
            done=lesson.done,
            finished=lesson.finished,
            beginning=lesson.beginning.manifest,
            memory=memory,
            seed=self.assignment.seed,
            fingerprint=self._fingerprint(),
            python_generator=generators.python,
            numpy_position=generators.numpy_position,
            metrics=lesson.figures,
            earlier=self._earlier,
        )
        state.write(folder)


def _size(recipe: Step) -> int:
    return recipe.iterations if recipe.algorithm == "ppo" else recipe.steps
