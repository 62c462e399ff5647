"""Collect: read the planned drops, or go on with what the round before left; play, if asked to."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from contracts.artifact import ArtifactRef
from training.artifacts import bring
from training.assignment import Assignment
from training.checkpoints.folders import folder_of, folder_uri
from training.environments.loading import load
from training.episodes.artifact import write_episodes
from training.events import Advance, Done, Event, Export, Inspected, Materials
from training.objects import Objects
from training.phases.dropped import Dropped
from training.phases.drops import fetch_drops
from training.phases.enough import counts, require_enough, why_nothing
from training.phases.game_room import require_room
from training.phases.playing import and_play
from training.phases.version_zero import make_version_zero
from training.stopwatch import Stopwatch
from trajectories.learnable import Learnable

START = "start"


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
    watch = Stopwatch()
    pipeline = assignment.plan.pipeline
    dropped = Dropped()
    with watch.stage("reading"):
        yield from dropped.read(assignment, materials)
    yield Inspected(tuple(dropped.reports))
    with watch.stage("pairing"):
        made = dropped.learnable(pipeline)
    if made.kind == "nothing":
        return _nothing(dropped, made, watch)
    require_enough(made, pipeline)
    episodes = write_episodes(assignment.folder / "episodes", made, run=assignment.spec.run)
    start, exports = yield from _start(assignment, materials, made, watch)
    if pipeline.environment is not None:
        logged = made.demonstrations
        require_room(pipeline.environment, pipeline.model.context, folder_of(start), logged)
    return Done(
        artifacts={"episodes": episodes, START: start},
        exports=exports,
        metrics=dropped.metrics() | counts(made),
        notes=() if pipeline.environment else (made.why,),
        seconds=watch.seconds,
    )


def _nothing(dropped: Dropped, made: Learnable, watch: Stopwatch) -> Done:
    note = why_nothing(dropped.pairs, dropped.trajectories, made)
    return Done(outcome="no_data", metrics=dropped.metrics(), notes=(note,), seconds=watch.seconds)


def _start(
    assignment: Assignment, materials: Materials, made: Learnable, watch: Stopwatch
) -> Generator[Event, None, tuple[ArtifactRef, dict[str, Export]]]:
    """The policy to start from, and what is to be exported of it."""
    parent = assignment.plan.parent
    if parent is not None:
        at = ArtifactRef(
            kind=parent.policy.kind,
            uri=folder_uri(materials[START]),
            manifest=parent.policy.manifest,
        )
        return at, {}
    yield Advance("Making the pipeline's first policy")
    with watch.stage("first policy"):
        export = make_version_zero(assignment, _texts(made))
    return export.ref, {"initial": export}


def _texts(made: Learnable) -> Iterator[str]:
    """What a new tokenizer is trained on: nothing that is held out."""
    from training.models.tokenizer import texts_of, texts_of_episodes

    if made.demonstrations:
        return texts_of_episodes(made.demonstrations)
    if made.kind == "pairs" or not made.labelled_training:
        return texts_of(made.training)
    return texts_of_episodes(one.trajectory for one in made.labelled_training)


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
