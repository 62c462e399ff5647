"""The objects of a plan: exact versions, streamed to the workspace, read in full."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from contracts.pipeline import DataRules
from contracts.plan import PlannedDrop
from contracts.result import ObjectReport, Problem
from training.assignment import Assignment
from training.objects import Objects
from trajectories.pair import Pair
from trajectories.reading import Reading, read_file
from trajectories.trajectory import Trajectory


class DropRead(NamedTuple):
    """The usable records of one drop, and what its uploader should know."""

    pairs: tuple[Pair, ...]
    trajectories: tuple[Trajectory, ...]
    report: ObjectReport


def fetch_drops(assignment: Assignment, objects: Objects, folder: Path) -> dict[str, Path]:
    """Download every planned object version; the files by drop id.

    Files are named by number, never by key: a key may hold anything.

    Raises:
        DataUnusable: a version is gone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for number, drop in enumerate(assignment.plan.drops):
        path = folder / f"{number:05d}"
        objects.download(drop.key, path, version_id=drop.version_id)
        files[drop.id] = path
    return files


def read_drop(drop: PlannedDrop, path: Path, rules: DataRules) -> DropRead:
    """Read one drop.

    A file whose share of bad records is over the pipeline's limit gives nothing at all.
    """
    reading = read_file(path, name=drop.key, format=rules.format)
    report = reading.report(drop=drop.id, key=drop.key, version_id=drop.version_id)
    share = reading.rejected / reading.records if reading.records else 0.0
    if share <= rules.max_bad_share:
        return DropRead(reading.pairs, reading.trajectories, report)
    return DropRead((), (), report.model_copy(update=_refused_whole(reading, share, rules)))


def _refused_whole(reading: Reading, share: float, rules: DataRules) -> dict[str, object]:
    problem = Problem(
        line=0,
        field="file",
        problem=f"{share:.0%} of the records are bad, over max_bad_share {rules.max_bad_share:g}",
        remedy="mend the records below, or raise data.max_bad_share in the pipeline",
    )
    return {
        "usable": 0,
        "rejected": reading.records,
        "problems": (problem, *reading.problems[: len(reading.problems) - 1]),
        "problem_count": reading.problem_count + 1,
    }
