"""Evaluate: the candidate against the policy it came from, on what neither has trained on."""

from __future__ import annotations

from collections.abc import Iterator

from training.artifacts import bring
from training.assignment import Assignment
from training.episodes.artifact import read_contents
from training.events import Event, Materials
from training.objects import Objects
from training.phases import evaluate_games, evaluate_labels, evaluate_pairs
from training.phases.measuring import metric_of


def prepare(assignment: Assignment, objects: Objects) -> Materials:
    """Bring the run's parent and the candidate into the workspace, verified; and the pairs.

    In a later round the parent is still the run's, not the round's start: the gate judges what
    the whole run gained.

    Raises:
        ArtifactCorrupt: one is not what was handed on.
    """
    assignment.folder.mkdir(parents=True, exist_ok=True)
    wanted = {
        "parent": assignment.input("parent", "start"),
        "candidate": assignment.input("policy"),
    }
    if assignment.plan.pipeline.environment is None:
        wanted["episodes"] = assignment.input("episodes")
    return {name: bring(objects, ref, assignment.folder / name) for name, ref in wanted.items()}


def work(assignment: Assignment, materials: Materials) -> Iterator[Event]:
    """Judge both policies by games, where there is an environment, else by what is held out."""
    pipeline = assignment.plan.pipeline
    if pipeline.environment is not None:
        yield from evaluate_games.work(assignment, pipeline.environment, materials)
        return
    if metric_of(pipeline.gate, read_contents(materials["episodes"])) == "accuracy":
        yield from evaluate_pairs.work(assignment, materials)
    else:
        yield from evaluate_labels.work(assignment, materials)
