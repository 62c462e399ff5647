"""Collect: read the planned drops, hold pairs out, and lay down the policy to start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from contracts.artifact import ArtifactRef
from contracts.result import ObjectReport
from training.artifacts import bring
from training.assignment import Assignment
from training.checkpoints.folders import folder_uri
from training.episodes.artifact import distinct, require_both_sides, write_episodes
from training.events import Advance, Done, Event, Export, Inspected, Materials
from training.objects import Objects
from training.phases.drops import fetch_drops, read_drop
from training.phases.version_zero import make_version_zero
from training.stopwatch import Stopwatch
from trajectories.pair import Pair
from trajectories.splitting import split

START = "start"


def prepare(assignment: Assignment, objects: Objects) -> Materials:
    """Bring what the round starts from into the workspace, verified.

    The first round gets the planned drops and the parent policy, if there is one; a later round
    what the round before left.

    Raises:
        ArtifactCorrupt: something is not what was handed on.
        DataUnusable: an object version of the plan is gone.
    """
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
    """Make the artifacts `episodes` and `start`; `initial` on a pipeline's first run."""
    if assignment.spec.round > 1:
        yield _hand_on(assignment)
        return
    watch = Stopwatch()
    gathered = _Gathered()
    with watch.stage("reading"):
        yield from _read_drops(assignment, materials, gathered)
    yield Inspected(tuple(gathered.reports))
    if not gathered.pairs:
        yield Done(outcome="no_data", metrics=gathered.metrics(), seconds=watch.seconds)
        return
    pairs = distinct(gathered.pairs)
    share = assignment.plan.pipeline.data.held_out_share
    train, held_out = split(pairs, share)
    require_both_sides(train, held_out, share)
    target = assignment.folder / "episodes"
    episodes = write_episodes(target, train, held_out, run=assignment.spec.run)
    artifacts = {"episodes": episodes}
    exports: dict[str, Export] = {}
    if assignment.plan.parent is not None:
        artifacts[START] = _at(materials[START], assignment.plan.parent.policy)
    else:
        yield Advance("Making the pipeline's first policy")
        with watch.stage("first policy"):
            exports["initial"] = make_version_zero(assignment, train)
        artifacts[START] = exports["initial"].ref
    counts = {"train_pairs": float(len(train)), "held_out_pairs": float(len(held_out))}
    yield Done(
        artifacts=artifacts,
        exports=exports,
        metrics=gathered.metrics() | counts | {"distinct_pairs": float(len(pairs))},
        seconds=watch.seconds,
    )


@dataclass
class _Gathered:
    pairs: list[Pair] = field(default_factory=list)
    reports: list[ObjectReport] = field(default_factory=list)

    def metrics(self) -> dict[str, float]:
        """Records over all drops."""
        return {
            "records": float(sum(report.records for report in self.reports)),
            "usable": float(sum(report.usable for report in self.reports)),
            "rejected": float(sum(report.rejected for report in self.reports)),
        }


def _read_drops(
    assignment: Assignment, materials: Materials, gathered: _Gathered
) -> Iterator[Event]:
    drops = assignment.plan.drops
    for number, drop in enumerate(drops, 1):
        yield Advance("Reading drops", step=number - 1, steps=len(drops))
        pairs, report = read_drop(drop, materials[drop.id], assignment.plan.pipeline.data)
        gathered.pairs += pairs
        gathered.reports.append(report)


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


def _at(folder: Path, ref: ArtifactRef) -> ArtifactRef:
    return ArtifactRef(kind=ref.kind, uri=folder_uri(folder), manifest=ref.manifest)
