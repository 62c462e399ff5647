"""Where a training stands, as checkpoints: written, found again, and refused if they do not fit."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from contracts.errors import ArtifactCorrupt, ContractBroken
from contracts.model import canonical_json, digest
from contracts.steps import Step
from training.algorithms.party import ALONE, Party
from training.algorithms.state import (
    TrainingState,
    load_generators,
    load_optimizer,
    refuse_unfinite,
    save_generators,
    save_optimizer,
)
from training.assignment import Assignment
from training.checkpoints.folders import commit_folder
from training.checkpoints.manifests import hold_to_manifest, read_manifest
from training.checkpoints.resuming import newest_complete
from training.checkpoints.series import Place, Series
from training.lessons.lesson import Beginning, Lesson

logger = logging.getLogger(__name__)
Fill = Callable[[Path], None]


class Bookmarks:
    """The checkpoints of one round's training, over all its attempts.

    Attributes:
        notes: sentences about checkpoints that were passed over.
    """

    def __init__(
        self, assignment: Assignment, recipes: Sequence[Step], start: Path, party: Party = ALONE
    ) -> None:
        self.notes: list[str] = []
        self._party = party
        self._assignment = assignment
        self._start = Beginning(start, assignment.input("start").manifest)
        self._fingerprint = _fingerprint(assignment, recipes)
        self._series = Series(assignment.series, assignment.spec.run, assignment.spec.attempt)
        self._saved_at = 0

    def newest(self) -> Place | None:
        """The newest complete checkpoint of this very training.

        Newer ones that do not fit are set aside, to be looked at by people.
        """
        found = self._party.from_first(self._look_for_the_newest)
        if found:
            self._saved_at = found.step
        return found

    def _look_for_the_newest(self) -> Place | None:
        self._series.open()
        search = newest_complete(self._series, refuse=self._refuse)
        for sentence in search.skipped:
            logger.warning(sentence)
        for place in search.refused:
            self._series.set_aside(place)
        self.notes += search.skipped
        return search.found

    def keep_beginning(self, number: int, fill: Fill, *, step: int) -> Beginning:
        """Keep the policy that a lesson begins from, as long as the series is kept.

        A reference policy has to be found again after an end, when checkpoints have moved on.

        Args:
            number: of the lesson, counted from 0; the first begins from the start.
            fill: writes the policy into the folder it is given.
            step: units that were gone through before.
        """
        if not number:
            return self._start
        folder = self._place(number)

        def keep() -> Beginning:
            shutil.rmtree(folder, ignore_errors=True)
            ref = commit_folder(folder, fill, kind="checkpoint", run=self._series.run, step=step)
            return Beginning(folder, ref.manifest, number)

        return self._party.from_first(keep)

    def beginning(self, state: TrainingState) -> Beginning:
        """The policy that a checkpoint's lesson began from."""
        if not state.lesson:
            return self._start
        return Beginning(self._place(state.lesson), state.beginning, state.lesson)

    def save(
        self,
        lesson: Lesson,
        fill: Fill,
        *,
        number: int,
        step: int,
        earlier: Mapping[str, float],
    ) -> None:
        """Write a checkpoint, unless nothing was learnt since the last.

        Args:
            lesson: the one that is gone through.
            fill: writes the policy.
            number: of the lesson, counted from 0.
            step: units of the whole recipe.
            earlier: figures of the lessons before.

        Raises:
            JobFailed: a weight is not finite.
        """
        if step == self._saved_at:
            return

        def fill_all(folder: Path) -> None:
            refuse_unfinite(lesson.parameters, step)
            fill(folder)
            save_optimizer(folder, lesson.parameters, lesson.optimizer)
            memory = lesson.save(folder)
            generators = save_generators(folder)
            state = TrainingState(
                step=step,
                lesson=number,
                done=lesson.done,
                beginning=lesson.beginning.manifest,
                memory=memory,
                seed=self._assignment.seed,
                fingerprint=self._fingerprint,
                python_generator=generators.python,
                numpy_position=generators.numpy_position,
                metrics=lesson.figures,
                earlier=dict(earlier),
            )
            state.write(folder)

        self._party.from_first(lambda: self._series.save(step, fill_all))
        self._saved_at = step

    def _refuse(self, folder: Path) -> str | None:
        try:
            state = TrainingState.read(folder)
        except (ContractBroken, OSError) as error:
            return str(error)
        if state.fingerprint != self._fingerprint:
            return "it is of another start, other data or another recipe"
        if not state.lesson:
            return None
        begun = self._place(state.lesson)
        try:
            hold_to_manifest(begun, read_manifest(begun, expected=state.beginning))
        except (ArtifactCorrupt, OSError) as error:
            return f"the policy that its step of the recipe began from is lost: {error}"
        return None

    def _place(self, number: int) -> Path:
        return self._series.root / f"beginning-{number + 1:02d}"


def restore(lesson: Lesson, folder: Path, state: TrainingState) -> None:
    """Bring a prepared lesson, and the generators, to where a verified checkpoint left them."""
    lesson.restore(folder, state.memory)
    load_optimizer(folder, lesson.parameters, lesson.optimizer)
    load_generators(folder, state)
    lesson.done = state.done
    lesson.figures = dict(state.metrics)


def _fingerprint(assignment: Assignment, recipes: Sequence[Step]) -> str:
    """Digest of all that the weights depend on, the place in the recipe apart."""
    spec, pipeline = assignment.spec, assignment.plan.pipeline
    world = pipeline.environment
    return digest(
        canonical_json(
            {
                "start": spec.inputs["start"].manifest,
                "episodes": spec.inputs["episodes"].manifest,
                "recipes": [recipe.model_dump(mode="json") for recipe in recipes],
                "environment": world.model_dump(mode="json") if world else None,
                "context": pipeline.model.context,
                "seed": assignment.seed,
            }
        )
    )
