"""Read a dropped file in full: every record is usable or rejected with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from contracts.model import describe
from contracts.result import ObjectReport, Problem
from trajectories.detecting import SUPPORTED, Detection, detect, shape
from trajectories.formats import FORMATS
from trajectories.formats.record_format import RecordFormat
from trajectories.opening import open_file, read_items
from trajectories.pair import Pair
from trajectories.problems import Problems
from trajectories.records import Broken, Found, Item
from trajectories.refusal import RecordRefused, kind, refuse, speakable
from trajectories.trajectory import Trajectory
from trajectories.unpacking import BOUNDS, Bounds

SAMPLE_RECORDS = 100
"""Records that the format is detected by."""
SAMPLE_ITEMS = 1000
"""Records looked at to find those, when many cannot be read."""
SAMPLE_BYTES = 16 * 1024**2
"""Of text that is held to find them."""


class Reader:
    """A file's usable records as a stream, in bounded memory; iterate over it once.

    The other attributes grow as it goes and are final at its end: then `records` is `usable` and
    `rejected` together.

    Attributes:
        format: detected or set; empty when none fits.
        evidence: by what.
        records: read so far.
        usable: those that were given.
        bytes_read: of the file as it lies there, so compressed ones if it is.
    """

    def __init__(
        self, path: Path, *, name: str, format: str = "auto", bounds: Bounds = BOUNDS
    ) -> None:
        """Prepare to read a file; what it is called does not matter, only what it holds.

        Args:
            path: the file.
            name: what to call it in problems: its key, or the path as the user gave it.
            format: `auto`, or one of `FORMATS`, to which every record must then keep.
            bounds: how far it may unpack.

        Raises:
            ValueError: no such format.
        """
        if format != "auto" and format not in FORMATS:
            raise ValueError(f"format {format!r} is not one of auto, {', '.join(FORMATS)}")
        self.format = ""
        self.evidence = "not read"
        self.records = 0
        self.usable = 0
        self.bytes_read = 0
        self._path = path
        self._name = speakable(name)
        self._wanted = format
        self._bounds = bounds
        self._problems = Problems()

    @property
    def rejected(self) -> int:
        """Records that cannot be used."""
        return self.records - self.usable

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The first twenty, each with how many are like it."""
        return self._problems.shown

    @property
    def problem_count(self) -> int:
        """All of them."""
        return self._problems.count

    def __iter__(self) -> Iterator[Pair | Trajectory]:
        """Read the file's usable records.

        Raises:
            OSError: it cannot be read.
        """
        return (made for made in self.every() if made is not None)

    def every(self) -> Iterator[Pair | Trajectory | None]:
        """Read the file, with a None in the place of each record that cannot be used.

        Raises:
            OSError: it cannot be read.
        """
        opened = open_file(self._path, self._name, self._bounds)
        if opened.container.kind == "neither":
            self._file_problem(opened.container.words, opened.container.remedy)
            self.evidence = f"the file {opened.container.words}"
            return
        sample = _sample(read_items(self._path, opened, self._bounds, self._has_read))
        self._detect(sample, opened.words)
        form = FORMATS.get(self.format)
        for item in chain(sample.seen, sample.rest):
            made = self._take(item, form)
            self.usable += made is not None
            yield made
        if not self.records and not self.problem_count:
            self._file_problem("holds no record", SUPPORTED)

    @property
    def bad_share(self) -> float:
        """Share of the records that were rejected; 0 where there are none."""
        return self.rejected / self.records if self.records else 0.0

    def report(self, *, drop: str, key: str, version_id: str) -> ObjectReport:
        """What was found, as a job reports it for one object of the bucket."""
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

    def _detect(self, sample: _Sample, words: str) -> None:
        if self._wanted == "auto":
            found = detect(sample.values)
        else:
            found = Detection(self._wanted, "set by the pipeline")
        self.format, self.evidence = found.format, f"{words}; {found.evidence}"
        if not found.format and sample.values:
            self._file_problem(f"is in no known format: {found.evidence}", SUPPORTED)

    def _take(self, item: Item, form: RecordFormat | None) -> Pair | Trajectory | None:
        if isinstance(item, Broken):
            if item.line:
                self.records += 1
                self._problems.add(item.line, item.field, item.problem, item.remedy)
            else:
                self._file_problem(item.problem, item.remedy)
            return None
        self.records += 1
        if form is None:
            return None
        try:
            return _usable(item.value, form)
        except RecordRefused as refused:
            self._problems.add(item.line, refused.field, refused.problem, refused.remedy)
        except ValidationError as error:
            # What no reader thought of and the canonical form does not take.
            words = f"cannot be brought to the canonical form: {describe(error)}"
            self._problems.add(item.line, "record", words, SUPPORTED)
        return None

    def _has_read(self, position: int) -> None:
        self.bytes_read = position

    def _file_problem(self, problem: str, remedy: str) -> None:
        self._problems.add(0, "file", f"{self._name} {problem}", remedy)


class _Sample(NamedTuple):
    seen: Sequence[Item]
    rest: Iterator[Item]

    @property
    def values(self) -> list[object]:
        return [item.value for item in self.seen if isinstance(item, Found)]


def _sample(items: Iterator[Item]) -> _Sample:
    seen: list[Item] = []
    readable = held = 0
    while readable < SAMPLE_RECORDS and len(seen) < SAMPLE_ITEMS and held < SAMPLE_BYTES:
        item = next(items, None)
        if item is None:
            break
        seen.append(item)
        if isinstance(item, Found):
            readable += 1
            held += item.size
    return _Sample(seen, items)


def _usable(value: object, form: RecordFormat) -> Pair | Trajectory:
    if type(value) is not dict:
        refuse("record", f"is {kind(value)}, not an object", SUPPORTED)
    if not form.fits(value):
        looks_like = shape(value)
        if looks_like:
            words = f"looks like {looks_like} in a file taken for {form.name}"
            refuse("record", words, "keep one format a file")
    return form.read(value)
