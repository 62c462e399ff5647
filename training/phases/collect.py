"""Collect: read the planned drops, or go on with what the round before left; play, if asked to."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

from contracts.artifact import ArtifactRef
from contracts.pipeline import Pipeline
from training.artifacts import bring
from training.assignment import Assignment
from training.checkpoints.folders import folder_of, folder_uri
from training.environments.loading import load
from training.episodes.artifact import commit_episodes, demonstrations_in
from training.episodes.sorting_out import SortingOut
from training.episodes.texts import Sample, texts_to_train_on
from training.events import Advance, Done, Event, Export, Inspected, Materials
from training.objects import Objects
from training.phases.dropped import Dropped
from training.phases.drops import fetch_drops
from training.phases.enough import counts, require_enough, why_nothing
from training.phases.game_room import require_room
from training.phases.playing import and_play
from training.phases.version_zero import make_version_zero
from training.stopwatch import Stopwatch

START = "start"
SCRATCH = "sorting"


def prepare(assignment: Assignment, objects: Objects) -> Materials:
    """Bring what the round starts from into the workspace, verified.

    The first round gets the planned drops and the parent policy, if there is one; a later round
    what the round before left.

    Raises:
        ArtifactCorrupt: something is not what was handed on.
        DataUnusable: an object version of the plan is gone.
        PipelineInvalid: the environment cannot be loaded.
    """
    environment = assignment.plan.pipeline.environment
    if environment is not None:
        load(environment)
    folder = assignment.folder
    folder.mkdir(parents=True, exist_ok=True)
    if assignment.spec.round > 1:
        return {
            name: bring(objects, ref, folder / name) for name, ref in _earlier(assignment).items()
        }
    materials = fetch_drops(assignment, objects, folder / "drops")
    parent = assignment.plan.parent
    if parent is not None:
        materials[START] = bring(objects, parent.policy, folder / START)
    return materials


def work(assignment: Assignment, materials: Materials) -> Iterator[Event]:
    """Make the artifacts `episodes` and `start`; `initial` on a pipeline's first run.

    `rollouts` as well, in a round that plays.
    """
    if assignment.spec.round > 1:
        done = _hand_on(assignment)
    else:
        done = yield from _read(assignment, materials)
    yield from and_play(assignment, done)


def _read(assignment: Assignment, materials: Materials) -> Generator[Event, None, Done]:
    scratch = assignment.folder / SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        return (yield from _read_within(scratch, assignment, materials))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _read_within(
    scratch: Path, assignment: Assignment, materials: Materials
) -> Generator[Event, None, Done]:
    watch = Stopwatch()
    pipeline = assignment.plan.pipeline
    dropped = Dropped.of(pipeline, scratch)
    with watch.stage("reading"):
        yield from dropped.read(assignment, materials)
    yield Inspected(tuple(dropped.reports))
    dropped.require_one_readable()
    with watch.stage("sorting"):
        found, written = yield from _sort_out(dropped, pipeline, scratch)
    contents, metrics = found.contents, dropped.metrics()
    if contents.kind == "nothing":
        note = why_nothing(found)
        return Done(outcome="no_data", metrics=metrics, notes=(note,), seconds=watch.seconds)
    require_enough(contents, pipeline)
    with watch.stage("writing"):
        target = assignment.folder / "episodes"
        episodes = commit_episodes(target, written, run=assignment.spec.run)
    start, exports, notes = yield from _start(assignment, materials, target, watch)
    if pipeline.environment is not None:
        logged = demonstrations_in(target)
        require_room(pipeline.environment, pipeline.model.context, folder_of(start), logged)
    return Done(
        artifacts={"episodes": episodes, START: start},
        exports=exports,
        metrics=metrics | counts(contents, found.mean_reward),
        notes=notes if pipeline.environment else (contents.why, *notes),
        seconds=watch.seconds,
    )


def _sort_out(
    dropped: Dropped, pipeline: Pipeline, scratch: Path
) -> Generator[Event, None, tuple[SortingOut, Path]]:
    """Sort out what was gathered, with signs of life; and where the shards of it lie."""
    written = scratch / "shards"
    written.mkdir(parents=True, exist_ok=True)
    plays = pipeline.environment is not None
    found = SortingOut(
        dropped.gathering, pipeline.learning_rules, plays=plays, folder=written, scratch=scratch
    )
    yield Advance("Sorting out what can be learnt")
    for done in found.run():
        yield Advance("Sorting out what can be learnt", metrics={"sorted": float(done)})
    return found, written


def _start(
    assignment: Assignment, materials: Materials, episodes: Path, watch: Stopwatch
) -> Generator[Event, None, tuple[ArtifactRef, dict[str, Export], tuple[str, ...]]]:
    """The policy to start from, what is to be exported of it, and what is to be said of it."""
    parent = assignment.plan.parent
    if parent is not None:
        at = ArtifactRef(
            kind=parent.policy.kind,
            uri=folder_uri(materials[START]),
            manifest=parent.policy.manifest,
        )
        return at, {}, ()
    yield Advance("Making the pipeline's first policy")
    sample = Sample(texts_to_train_on(episodes))
    with watch.stage("first policy"):
        export = make_version_zero(assignment, sample)
    return export.ref, {"initial": export}, sample.notes


def _earlier(assignment: Assignment) -> dict[str, ArtifactRef]:
    """What the round before left, the run's own parent among it, to be judged against."""
    return {
        "episodes": assignment.input("episodes"),
        "policy": assignment.input("policy"),
        "parent": assignment.input("parent", START),
    }


def _hand_on(assignment: Assignment) -> Done:
    earlier = _earlier(assignment)
    return Done(
        artifacts={
            "episodes": earlier["episodes"],
            START: earlier["policy"],
            "parent": earlier["parent"],
        },
        notes=("the same episodes again, from the policy of the round before",),
    )
