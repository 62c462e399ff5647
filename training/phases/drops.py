"""The objects of a plan: exact versions, brought to the workspace, read in full."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from contracts.errors import DataUnusable, JobFailed, PermanentError
from contracts.limits import PROBLEMS_PER_RESULT_MAX, PROBLEMS_SHOWN_MAX
from contracts.pipeline import DataRules
from contracts.plan import Plan
from contracts.result import ObjectReport, Problem
from training.assignment import Assignment
from training.objects import Objects
from trajectories.pair import Pair
from trajectories.reading import Reader
from trajectories.trajectory import Trajectory

DOWNLOADS_AT_ONCE = 8
SAID_EVERY = 5_000
"""Records: a second or less of reading, unless they are large."""
SAID_EVERY_BYTES = 16 * 1024**2
"""Of the file: the same of large ones."""
_UNREADABLE = ".unreadable"
_REMEDIES: dict[type[PermanentError], str] = {
    DataUnusable: "upload the file again; versions of uploads must not expire before their run",
    JobFailed: "let the job's role read the file (its KMS key, its storage class), then upload "
    "it again",
}


Take = Callable[[Pair | Trajectory], None]


class Read(NamedTuple):
    """How far an object is read: records, good or bad, and bytes of its file."""

    records: int
    bytes: int


class DropObject(NamedTuple):
    """An object that is to be read.

    Attributes:
        name: under which the workspace knows it.
        drop: whose it is.
        key: in the bucket.
        version_id: the exact version.
    """

    name: str
    drop: str
    key: str
    version_id: str


class ObjectRead(NamedTuple):
    """What an object's uploader should know, and whether its usable records count."""

    refused: bool
    report: ObjectReport


def objects_of(plan: Plan) -> Iterator[DropObject]:
    """Every object of a plan, drop after drop; of a set, all its objects."""
    for drop in plan.drops:
        if drop.objects is None:
            yield DropObject(drop.id, drop.id, drop.key, drop.version_id)
        for number, one in enumerate(drop.objects or ()):
            yield DropObject(f"{drop.id}-{number:05d}", drop.id, one.key, one.version_id)


def fetch_drops(assignment: Assignment, objects: Objects, folder: Path) -> dict[str, Path]:
    """Download every planned object version; the files by the objects' names.

    Files are named by number, never by key: a key may hold anything. In the place of a version
    that is gone or may not be read lies a file that says so: the others are read all the same.

    Raises:
        ServiceUnavailable: S3 did not answer.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def fetch(numbered: tuple[int, DropObject]) -> tuple[str, Path]:
        number, one = numbered
        path = folder / f"{number:05d}"
        try:
            objects.download(one.key, path, version_id=one.version_id)
        except (DataUnusable, JobFailed) as error:
            path = path.with_suffix(_UNREADABLE)
            path.write_text(json.dumps([type(error).__name__, str(error)]), encoding="utf-8")
        return one.name, path

    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        return dict(pool.map(fetch, enumerate(objects_of(assignment.plan))))


def why_unreadable(path: Path) -> PermanentError | None:
    """Why an object could not be brought; None when it was."""
    if path.suffix != _UNREADABLE:
        return None
    name, cause = json.loads(path.read_text(encoding="utf-8"))
    found = next(kind for kind in _REMEDIES if kind.__name__ == name)
    return found(cause)


def read_object(
    one: DropObject, path: Path, rules: DataRules, take: Take, *, shown: int
) -> Generator[Read, None, ObjectRead]:
    """Read one object, saying now and then how far, whatever its records are.

    A file whose share of bad records is over the pipeline's limit is refused whole.

    Args:
        one: the object.
        path: its file.
        rules: the pipeline's.
        take: is given each usable record.
        shown: most problems that the report shows; it counts all.
    """
    error = why_unreadable(path)
    if error is not None:
        return ObjectRead(True, _unread(one, error))
    reader = Reader(path, name=one.key, format=rules.format)
    said = Read(0, 0)
    for record in reader.every():
        if record is not None:
            take(record)
        now = Read(reader.records, reader.bytes_read)
        if now.records - said.records >= SAID_EVERY or now.bytes - said.bytes >= SAID_EVERY_BYTES:
            said = now
            yield now
    report = reader.report(drop=one.drop, key=one.key, version_id=one.version_id)
    if reader.bad_share > rules.max_bad_share:
        changes = _refused_whole(report, reader.bad_share, rules)
        return ObjectRead(True, _showing(report.model_copy(update=changes), shown))
    return ObjectRead(False, _showing(report, shown))


def problems_shown(objects: int) -> int:
    """How many problems each report may show, so that a result of many stays readable."""
    return max(1, min(PROBLEMS_SHOWN_MAX, PROBLEMS_PER_RESULT_MAX // max(1, objects)))


def _showing(report: ObjectReport, shown: int) -> ObjectReport:
    return report.model_copy(update={"problems": report.problems[:shown]})


def _unread(one: DropObject, error: PermanentError) -> ObjectReport:
    remedy = _REMEDIES[type(error)]
    problem = Problem(line=0, field="file", problem=str(error), remedy=remedy)
    return ObjectReport(
        drop=one.drop,
        key=one.key,
        version_id=one.version_id,
        format="",
        evidence="",
        records=0,
        usable=0,
        rejected=0,
        problems=(problem,),
        problem_count=1,
    )


def _refused_whole(report: ObjectReport, share: float, rules: DataRules) -> dict[str, object]:
    problem = Problem(
        line=0,
        field="file",
        problem=f"{share:.0%} of the records are bad, over max_bad_share {rules.max_bad_share:g}",
        remedy="mend the records below, or raise data.max_bad_share in the pipeline",
    )
    return {
        "usable": 0,
        "rejected": report.records,
        "problems": (problem, *report.problems[: PROBLEMS_SHOWN_MAX - 1]),
        "problem_count": report.problem_count + 1,
    }
