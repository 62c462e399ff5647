"""Read a dropped file in full: every record is usable or rejected with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from pydantic import Field, model_validator

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Contract
from contracts.result import ObjectReport, Problem
from trajectories.container import Container, look
from trajectories.detecting import SUPPORTED, Detection, detect, shape
from trajectories.formats import FORMATS
from trajectories.json_lines import read_lines
from trajectories.json_values import read_values
from trajectories.pair import Pair
from trajectories.records import Broken, Found, Item
from trajectories.refusal import RecordRefused, kind, refuse, speakable
from trajectories.trajectory import Trajectory

SAMPLE_RECORDS = 100
"""Records that the format is detected by."""
SAMPLE_ITEMS = 1000
"""Records looked at to find those, when many cannot be read."""

_MEDIA = ("images", "image", "videos", "video", "audios", "audio", "tools")


class Reading(Contract):
    """What a file holds; `records` is always `usable` and `rejected` together."""

    format: str = Field(description="Empty when none fits.")
    evidence: str
    records: int = Field(ge=0)
    pairs: tuple[Pair, ...]
    trajectories: tuple[Trajectory, ...] = ()
    problems: tuple[Problem, ...] = Field(max_length=PROBLEMS_SHOWN_MAX)
    problem_count: int = Field(ge=0)

    @property
    def usable(self) -> int:
        """Records that became a pair or a trajectory."""
        return len(self.pairs) + len(self.trajectories)

    @property
    def rejected(self) -> int:
        """Records that did not."""
        return self.records - self.usable

    @model_validator(mode="after")
    def _no_record_goes_missing(self) -> Self:
        if self.rejected < 0 or self.problem_count < len(self.problems):
            raise ValueError("more usable than records, or more problems shown than counted")
        if self.rejected and not self.problem_count:
            raise ValueError("records were rejected without a reason")
        return self

    def report(self, *, drop: str, key: str, version_id: str) -> ObjectReport:
        """The same as a job reports it for one object of the bucket."""
        return ObjectReport(
            drop=drop,
            key=key,
            version_id=version_id,
            format=self.format,
            evidence=self.evidence,
            records=self.records,
            usable=self.usable,
            rejected=self.rejected,
            problems=self.problems,
            problem_count=self.problem_count,
        )


def read_file(path: Path, *, name: str, format: str = "auto") -> Reading:
    """Read a file of preference pairs, or of episodes.

    JSON Lines are read as a stream; an array, or objects over several lines, whole and up to
    `json_values.WHOLE_BYTES_MAX`. What the file is called does not matter, only what it holds.

    Args:
        path: the file.
        name: what to call it in problems: its key, or the path as the user gave it.
        format: `auto`, or one of `FORMATS`, to which every record must then keep.

    Raises:
        ValueError: no such format.
        OSError: the file cannot be read.
    """
    if format != "auto" and format not in FORMATS:
        raise ValueError(f"format {format!r} is not one of auto, {', '.join(FORMATS)}")
    name = speakable(name)
    with path.open("rb") as file:
        container = look(file)
        tally = _Tally()
        if container.kind == "neither":
            tally.file_problem(f"{name} {container.words}", container.remedy)
            return tally.reading(Detection("", f"the file {container.words}"))
        return _read(_items(file, container), container, name, format, tally)


class _Tally:
    """Counts records and problems, and keeps what is usable and the first problems."""

    def __init__(self) -> None:
        self.records = 0
        self.pairs: list[Pair] = []
        self.trajectories: list[Trajectory] = []
        self.problems: list[Problem] = []
        self.problem_count = 0

    def keep(self, made: Pair | Trajectory) -> None:
        if isinstance(made, Pair):
            self.pairs.append(made)
        else:
            self.trajectories.append(made)

    def problem(self, line: int, field: str, problem: str, remedy: str) -> None:
        self.problem_count += 1
        if len(self.problems) < PROBLEMS_SHOWN_MAX:
            made = Problem(line=line, field=field, problem=problem, remedy=remedy)
            self.problems.append(made)

    def file_problem(self, problem: str, remedy: str) -> None:
        self.problem(0, "file", problem, remedy)

    def reading(self, detection: Detection) -> Reading:
        return Reading(
            format=detection.format,
            evidence=detection.evidence,
            records=self.records,
            pairs=tuple(self.pairs),
            trajectories=tuple(self.trajectories),
            problems=tuple(self.problems),
            problem_count=self.problem_count,
        )


class _Sample(NamedTuple):
    seen: Sequence[Item]
    rest: Iterator[Item]

    @property
    def values(self) -> list[object]:
        return [item.value for item in self.seen if isinstance(item, Found)]


def _items(file: BinaryIO, container: Container) -> Iterator[Item]:
    return read_lines(file) if container.kind == "lines" else read_values(file)


def _read(
    items: Iterator[Item], container: Container, name: str, wanted: str, tally: _Tally
) -> Reading:
    sample = _sample(items)
    found = detect(sample.values) if wanted == "auto" else Detection(wanted, "set by the pipeline")
    evidence = f"{container.words}; {found.evidence}"
    if not found.format and sample.values:
        tally.file_problem(f"{name} holds neither pairs nor episodes: {found.evidence}", SUPPORTED)
    for item in chain(sample.seen, sample.rest):
        _take(item, found.format, name, tally)
    if not tally.records and not tally.problem_count:
        tally.file_problem(f"{name} holds no record", SUPPORTED)
    return tally.reading(Detection(found.format, evidence))


def _sample(items: Iterator[Item]) -> _Sample:
    seen: list[Item] = []
    readable = 0
    while readable < SAMPLE_RECORDS and len(seen) < SAMPLE_ITEMS:
        item = next(items, None)
        if item is None:
            break
        seen.append(item)
        readable += isinstance(item, Found)
    return _Sample(seen, items)


def _take(item: Item, format_: str, name: str, tally: _Tally) -> None:
    if isinstance(item, Broken):
        if item.line:
            tally.records += 1
            tally.problem(item.line, "record", item.problem, item.remedy)
        else:
            tally.file_problem(f"{name} {item.problem}", item.remedy)
        return
    tally.records += 1
    if not format_:
        return
    try:
        tally.keep(_usable(item.value, format_))
    except RecordRefused as refused:
        tally.problem(item.line, refused.field, refused.problem, refused.remedy)


def _usable(value: object, format_: str) -> Pair | Trajectory:
    if not isinstance(value, dict):
        refuse("record", f"is {kind(value)}, not an object", SUPPORTED)
    looks_like = shape(value)
    if looks_like not in {"", format_}:
        refuse(
            "record",
            f"looks like {looks_like} in a file taken for {format_}",
            "keep one format a file",
        )
    for field in _MEDIA:
        if value.get(field):
            refuse(field, "is not empty", "keep to text: it is not carried into training")
    return FORMATS[format_].read(value)
