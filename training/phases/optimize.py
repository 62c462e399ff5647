"""Optimize: learn from the episodes, from the newest checkpoint on if there is one."""

from __future__ import annotations

from collections.abc import Iterator

from contracts import layout
from contracts.artifact import ArtifactRef
from training.algorithms.party import ALONE, Party
from training.artifacts import bring
from training.assignment import Assignment
from training.checkpoints.folders import commit_folder
from training.events import Done, Event, Export, Materials, Stopped
from training.objects import Objects
from training.phases.together import learn_together
from training.phases.training_run import TrainingRun


def prepare(assignment: Assignment, objects: Objects) -> Materials:
    """Bring episodes and starting policy into the workspace, verified.

    Raises:
        ArtifactCorrupt: one is not what was handed on.
    """
    assignment.folder.mkdir(parents=True, exist_ok=True)
    return {
        name: bring(objects, assignment.input(name), assignment.folder / name)
        for name in ("episodes", "start")
    }


def work(assignment: Assignment, materials: Materials) -> Iterator[Event]:
    """Make the artifact `policy`, and its copy `export` in the last round.

    Before the last round, what the next one starts from besides it is handed on as well.
    """
    if assignment.together:
        yield from learn_together(learn, assignment, materials)
    else:
        yield from learn(assignment, materials, ALONE)


def learn(assignment: Assignment, materials: Materials, party: Party) -> Iterator[Event]:
    """One learner's part of it; of several, the first one's events count."""
    run = TrainingRun(assignment, materials, party)
    yield from run.load()
    yield from run.train()
    if run.stopped:
        yield Stopped(run.step)
        return
    folder = assignment.folder / "policy"
    ref = party.from_first(
        lambda: commit_folder(
            folder, run.write_policy, kind="checkpoint", run=assignment.spec.run, step=run.step
        )
    )
    yield Done(
        artifacts={"policy": ref} | _handed_on(assignment),
        exports=_exports(assignment, ref),
        metrics=run.metrics(),
        resumed_from=run.resumed_from,
        notes=run.notes,
        seconds=run.watch.seconds,
    )


def _handed_on(assignment: Assignment) -> dict[str, ArtifactRef]:
    if assignment.spec.last_round:
        return {}
    return {
        "episodes": assignment.input("episodes"),
        "parent": assignment.input("parent", "start"),
    }


def _exports(assignment: Assignment, ref: ArtifactRef) -> dict[str, Export]:
    spec = assignment.spec
    if not spec.last_round:
        return {}
    prefix = layout.policy(spec.pipeline, spec.run)
    return {"export": Export(assignment.folder / "policy", ref, prefix)}
