"""The playing part of collect: the round's policy plays, and what it played is an artifact."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from contracts.artifact import ArtifactRef
from contracts.counting import counted
from contracts.errors import JobFailed, PipelineInvalid
from contracts.model import canonical_json, digest
from contracts.pipeline import Environment, Rollouts
from training.assignment import Assignment
from training.checkpoints.folders import folder_of
from training.environments.loading import load
from training.events import Advance, Done, Event, Stopped
from training.rollouts.actors import Lost, Part, Played, parts_of, play_parts
from training.rollouts.player import Order
from training.rollouts.seeds import EpisodePlan, plan_episodes
from training.rollouts.shelf import Shelf, read_rollouts
from training.rollouts.statistics import Tally
from training.stopwatch import Stopwatch

ROLLOUTS = "rollouts"
PART = 64
"""Episodes that are played together and kept together. Part of what makes the figures the same
for any number of actors, so it is no setting."""
_REASONS_SHOWN = 3
_SHOWN = ("success_rate", "mean_reward")


def and_play(assignment: Assignment, done: Done) -> Iterator[Event]:
    """Let the round's start policy play, if the round says so.

    Args:
        assignment: whose round may have `collect`.
        done: what collect has made so far, the policy among it.

    Yields:
        Progress, and at the end `done` with the artifact `rollouts` and its figures added.

    Raises:
        JobFailed: every episode failed.
        JobCrashed: players died again and again.
    """
    pipeline = assignment.plan.pipeline
    rollouts = pipeline.rounds[assignment.spec.round - 1].collect
    if rollouts is None or done.outcome != "succeeded":
        yield done
        return
    if pipeline.environment is None:
        raise PipelineInvalid("environment: a round that collects rollouts needs one")
    game = _Game(assignment, rollouts, pipeline.environment, done.artifacts["start"])
    ref = yield from game.play()
    if ref is None:
        yield Stopped(game.done)
        return
    yield replace(
        done,
        artifacts={**done.artifacts, ROLLOUTS: ref},
        metrics={**done.metrics, **game.tally.figures()},
        notes=(*done.notes, *game.notes()),
        resumed_from=game.resumed_from or done.resumed_from,
        seconds={**done.seconds, **game.watch.seconds},
    )


class _Game:
    """One attempt at a round's rollouts.

    Attributes:
        tally: of the episodes that this attempt played, and at the end of all in their order.
        done: episodes that are kept.
        watch: where the time went.
        resumed_from: what an earlier attempt had played, in words.
    """

    def __init__(
        self,
        assignment: Assignment,
        rollouts: Rollouts,
        environment: Environment,
        start: ArtifactRef,
    ) -> None:
        self._assignment = assignment
        self._rollouts = rollouts
        self._environment = environment
        self._start = start
        self._lost: list[str] = []
        self.tally = Tally()
        self.done = 0
        self.watch = Stopwatch()
        self.resumed_from = ""

    def play(self) -> Generator[Event, None, ArtifactRef | None]:
        """Play what is not on the shelf yet; the artifact, or None when asked to stop."""
        spec = self._assignment.spec
        parts = parts_of(self._plans(), PART)
        shelf = Shelf(self._assignment.series / f"played-{self._fingerprint()}", spec.run)
        missing = [part for part in parts if not shelf.holds(part.number)]
        self.done = self._rollouts.episodes - sum(len(part.plans) for part in missing)
        if self.done:
            self.resumed_from = f"{counted(self.done, 'episode')} of an earlier attempt"
        yield self._advance()
        with self.watch.stage("playing"):
            stopped = yield from self._play(missing, shelf)
        if stopped:
            return None
        with self.watch.stage("gathering"):
            target = self._assignment.folder / ROLLOUTS
            ref = shelf.gather(target, len(parts))
            self.tally = Tally()
            for episode in read_rollouts(target):
                self.tally.add(episode)
        self._refuse_if_all_failed()
        return ref

    def notes(self) -> list[str]:
        """What an operator should know."""
        reasons = self.tally.failures.most_common(_REASONS_SHOWN)
        failed = "; ".join(f"{reason} ({count})" for reason, count in reasons)
        words = f"{self.tally.failed} of {counted(self.tally.episodes, 'episode')} failed: {failed}"
        return [*self._lost, *([words] if self.tally.failed else [])]

    def _play(self, missing: list[Part], shelf: Shelf) -> Generator[Event, None, bool]:
        for event in play_parts(self._order(), missing, players=self._rollouts.actors):
            if isinstance(event, Played):
                shelf.put(event.part.number, event.episodes)
                self.done += len(event.episodes)
                for episode in event.episodes:
                    self.tally.add(episode)
            elif isinstance(event, Lost):
                self._lost.append(_lost(event))
            yield self._advance()
            if self._assignment.stop_mark.exists():
                return True
        return False

    def _advance(self) -> Advance:
        figures = self.tally.figures()
        shown = {name: value for name, value in figures.items() if name in _SHOWN}
        return Advance("Playing", self.done, self._rollouts.episodes, shown)

    def _plans(self) -> list[EpisodePlan]:
        spec = self._assignment.spec
        return plan_episodes(
            spec.run,
            spec.round,
            "collect",
            count=self._rollouts.episodes,
            tasks=self._tasks(),
            seed=self._assignment.seed,
        )

    def _tasks(self) -> int:
        environment = load(self._environment)()
        try:
            return environment.tasks()
        finally:
            environment.close()

    def _order(self) -> Order:
        pipeline = self._assignment.plan.pipeline
        return Order(
            policy=folder_of(self._start),
            environment=self._environment,
            context=pipeline.model.context,
            temperature=self._rollouts.temperature,
            device="cuda" if self._assignment.spec.hardware.gpus else "cpu",
        )

    def _fingerprint(self) -> str:
        """Of all that the episodes depend on; how many actors play is not among it."""
        spec = self._assignment.spec
        rollouts = self._rollouts.model_dump(mode="json") | {"actors": None}
        told = [
            [self._start.manifest, spec.run, spec.round, self._assignment.seed, PART],
            [rollouts, self._environment.model_dump(mode="json")],
            self._assignment.plan.pipeline.model.context,
        ]
        return digest(canonical_json(told))[:16]

    def _refuse_if_all_failed(self) -> None:
        if self.tally.failed == self.tally.episodes:
            raise JobFailed(f"{self.notes()[-1]}; mend the environment {self._environment.path}")


def _lost(event: Lost) -> str:
    first, last = event.part.plans[0].index, event.part.plans[-1].index
    return f"a player died over episodes {first} to {last}, which were played again"
