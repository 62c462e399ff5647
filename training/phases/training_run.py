"""One training, from loading to its end: the recipe's lessons in turn."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import JobFailed
from contracts.steps import Step
from training.algorithms.party import ALONE, Party
from training.algorithms.state import TrainingState, refuse_unfinite
from training.assignment import Assignment
from training.checkpoints.series import Place
from training.episodes.artifact import read_contents
from training.events import Advance, Event, Materials
from training.lessons.bookmarks import Bookmarks, restore
from training.lessons.curriculum import lesson_of, units
from training.lessons.curve import Curve, is_a_point
from training.lessons.lesson import Classroom
from training.lessons.play_look import PlayLook
from training.lessons.settling import settle
from training.models.folders import load_model, load_tokenizer, pad_of, save_policy
from training.models.runtime import prepare_runtime
from training.stopwatch import Stopwatch

logger = logging.getLogger(__name__)


class TrainingRun:
    """The state of one attempt's training.

    Attributes:
        recipes: the round's steps, each with its algorithm.
        stopped: whether it ended early because it was asked to.
        resumed_from: the checkpoint that it went on from, in words.
        watch: where the time went.
    """

    def __init__(self, assignment: Assignment, materials: Materials, party: Party = ALONE) -> None:
        self.stopped = False
        self.resumed_from = ""
        self.watch = Stopwatch()
        self._assignment = assignment
        self._party = party
        self._start: Path = materials["start"]
        self._episodes: Path = materials["episodes"]
        round_ = assignment.plan.pipeline.rounds[assignment.spec.round - 1]
        contents = read_contents(self._episodes)
        settled = [settle(step, contents) for step in round_.optimize]
        self.recipes: tuple[Step, ...] = tuple(one.step for one in settled)
        self._notes = [one.why for one in settled if one.why]
        self._bookmarks = Bookmarks(assignment, self.recipes, self._start, party)
        self._number = 0
        self._earlier: dict[str, float] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What an operator should know."""
        return tuple(dict.fromkeys([*self._notes, *self._lesson.notes, *self._bookmarks.notes]))

    @property
    def step(self) -> int:
        """Units gone through, or left out by a lesson that ended early."""
        return units(self.recipes[: self._number]) + self._lesson.done

    def load(self) -> Iterator[Event]:
        """Load the policy, from the start or the newest checkpoint, and the lesson it is at."""
        yield Advance("Loading the policy", steps=units(self.recipes))
        with self.watch.stage("imports"):
            device = prepare_runtime(self._assignment)
        with self.watch.stage("loading"):
            place = self._bookmarks.newest()
            folder = place.folder if place else self._start
            tokenizer = load_tokenizer(self._start)
            self._room = Classroom(
                assignment=self._assignment,
                episodes=self._episodes,
                model=load_model(folder, device=device),
                tokenizer=tokenizer,
                pad=pad_of(tokenizer),
                device=device,
                watch=self.watch,
                asked_to_stop=self._assignment.stop_mark.exists,
                party=self._party,
            )
            self._curve = Curve(self._assignment.spec.run, folder)
        self._look = PlayLook(self._room)
        yield from self._resume(place) if place else self._begin(0)

    def train(self) -> Iterator[Event]:
        """Go through what is left, with checkpoints every so often and at a lesson's end."""
        yield from self._go_on()
        while not self.stopped and self._number + 1 < len(self.recipes):
            self._close()
            yield from self._begin(self._number + 1)
            yield from self._go_on()

    def write_policy(self, folder: Path) -> None:
        """Write model and tokenizer as a folder that `from_pretrained` loads, and the curve."""
        save_policy(folder, self._room.model, self._room.tokenizer)
        self._curve.write(folder)

    def metrics(self) -> dict[str, float]:
        """The last figures, and how much was learnt from.

        Of a lesson before the last, figures have its algorithm's name in front: `sft_loss`.
        """
        lesson = self._lesson
        return self._earlier | lesson.figures | lesson.counts | {"steps": float(self.step)}

    def _begin(self, number: int) -> Iterator[Event]:
        """Start a lesson with the policy as it is."""
        with self.watch.stage("checkpoints"):
            step = units(self.recipes[:number])
            begun = self._bookmarks.keep_beginning(number, self.write_policy, step=step)
        self._number = number
        self._lesson = lesson_of(self.recipes[number], self._room, begun)
        yield from self._lesson.prepare(fresh=True)
        if number == 0 and self._look.plays:
            self._lesson.figures |= self._look.at("before")
            self._add_point()

    def _resume(self, place: Place) -> Iterator[Event]:
        state = TrainingState.read(place.folder)
        self._number = state.lesson
        self._earlier = dict(state.earlier)
        recipe, begun = self.recipes[state.lesson], self._bookmarks.beginning(state)
        self._lesson = lesson_of(recipe, self._room, begun)
        yield from self._lesson.prepare(fresh=False)
        restore(self._lesson, place.folder, state)
        self.resumed_from = str(place)
        logger.info("going on from %s", place)
        yield self._sign(f"Going on from {place}")

    def _close(self) -> None:
        """Keep a lesson's last figures under its algorithm's name."""
        name = self.recipes[self._number].algorithm
        figures = self._lesson.figures | self._lesson.counts
        self._earlier |= {f"{name}_{figure}": value for figure, value in figures.items()}
        self._notes += self._lesson.notes

    def _go_on(self) -> Iterator[Event]:
        lesson = self._lesson
        if not lesson.finished:
            lesson.open()
        while not lesson.finished and not self.stopped:
            done = lesson.done
            for _ in lesson.advance():
                yield self._sign(self._stage())
            if lesson.done > done:
                self._note_the_unit()
            yield self._sign(self._stage())
            self.stopped = self._party.from_first(self._room.asked_to_stop)
            if self.stopped or lesson.finished or lesson.done % lesson.checkpoint_every == 0:
                self._save()

    def _note_the_unit(self) -> None:
        lesson = self._lesson
        if lesson.finished:
            lesson.figures |= self._look.at("after")
        self._refuse_unfinite_figures()
        if lesson.finished or is_a_point(lesson.done, lesson.size):
            self._add_point()

    def _refuse_unfinite_figures(self) -> None:
        """End a training whose figures are not finite, naming the weight that is not, if any."""
        for name, value in self._lesson.figures.items():
            if not math.isfinite(value):
                refuse_unfinite(self._lesson.parameters, self.step)
                raise JobFailed(f"{name} is {value} after step {self.step}; nothing was saved")

    def _add_point(self) -> None:
        place = {
            "round": self._assignment.spec.round,
            "lesson": self._number + 1,
            "algorithm": self.recipes[self._number].algorithm,
            "done": self._lesson.done,
            "step": self.step,
        }
        self._curve.add(place, self._lesson.figures)

    def _stage(self) -> str:
        stage = f"Training by {self.recipes[self._number].algorithm}"
        if len(self.recipes) == 1:
            return stage
        return f"{stage}, {self._number + 1} of {len(self.recipes)}"

    def _sign(self, stage: str) -> Advance:
        return Advance(stage, self.step, units(self.recipes), dict(self._lesson.figures))

    def _save(self) -> None:
        with self.watch.stage("checkpoints"):
            self._bookmarks.save(
                self._lesson,
                self.write_policy,
                number=self._number,
                step=self.step,
                earlier=self._earlier,
            )
