"""A folder as the one drop it would be: file by file read, all of it judged together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from contracts import layout
from contracts.counting import counted
from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Contract
from contracts.pipeline import DataRules, FolderModel, TinyModel
from contracts.result import Problem
from lambdas.logic.survey_set import judge as judge_set
from lambdas.logic.upload_key import read_upload_key
from lambdas.ports import StoredVersion
from relay.console.errors import ToolError
from trajectories.pair import Pair
from trajectories.reading import Reader
from trajectories.trajectory import Trajectory
from trajectories.validating import Enough, Reaching, judge, read_to_end
from trajectories.verdict import Verdict

_ANY = "any"
"""Stands for the pipeline in keys that are only looked at."""


class FileRead(Contract):
    """What one file of a set held."""

    file: str
    format: str
    evidence: str
    records: int
    usable: int
    rejected: int
    problem_count: int


class SetVerdict(Verdict):
    """A verdict on all files together, and how each was read."""

    files: tuple[FileRead, ...]


class SetReader(Reader):
    """The usable records of all files of a set, one file in memory at a time.

    A file whose share of bad records is over the pipeline's limit gives nothing, as in `collect`.
    """

    def __init__(self, folder: Path, files: list[Path], rules: DataRules) -> None:
        """Prepare to read; `files` lie in `folder`."""
        super().__init__(folder, name=str(folder), format=rules.format)
        self.reads: list[FileRead] = []
        self._folder, self._files, self._rules = folder, files, rules
        self._shown: list[Problem] = []
        self._told: dict[str, FileRead] = {}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The first twenty, each with its file."""
        return tuple(self._shown[:PROBLEMS_SHOWN_MAX])

    @property
    def problem_count(self) -> int:
        """All of them."""
        return sum(read.problem_count for read in self.reads)

    def __iter__(self) -> Iterator[Pair | Trajectory]:
        """Read file after file."""
        for path in self._files:
            name = path.relative_to(self._folder).as_posix()
            reader = Reader(path, name=name, format=self._rules.format)
            records = list(reader)
            if reader.bad_share > self._rules.max_bad_share:
                records = []
            self._note(name, reader, len(records))
            yield from records

    def _note(self, name: str, reader: Reader, usable: int) -> None:
        self.records += reader.records
        self.usable += usable
        read = FileRead(
            file=name,
            format=reader.format,
            evidence=reader.evidence,
            records=reader.records,
            usable=usable,
            rejected=reader.records - usable,
            problem_count=reader.problem_count,
        )
        self.reads.append(read)
        if len(self._shown) < PROBLEMS_SHOWN_MAX:
            self._shown += [_of_file(name, one) for one in reader.problems]
        if read.format:
            self._told.setdefault(read.format, read)
        self.format = next(iter(self._told)) if len(self._told) == 1 else ""
        told = next(iter(self._told.values()), self.reads[0])
        self.evidence = f"{counted(len(self.reads), 'file')}; {told.file}: {told.evidence}"


def validate_folder(
    folder: Path,
    *,
    rules: DataRules,
    plays: bool | None = None,
    model: TinyModel | FolderModel | None = None,
    enough: Enough | None = None,
    reach: Reaching | None = None,
) -> SetVerdict:
    """Judge a folder's files as a set; the arguments are those of `trajectories.validating`.

    Raises:
        ToolError: it cannot be a set, and why.
        OSError: a file cannot be read.
    """
    found = {_key(path, folder): path for path in folder.rglob("*") if path.is_file()}
    keys = sorted(key for key in found if read_upload_key(key).kind == "shard")
    for key in keys:
        refusal = read_upload_key(key).refusal
        if refusal is not None:
            raise ToolError(f"{found[key]}: {refusal.reason}; {refusal.remedy}")
    listed = [StoredVersion(key, "", found[key].stat().st_size, newest=True) for key in keys]
    refusal = judge_set(listed, {}, rules, "").refusal
    if refusal is not None:
        raise ToolError(f"{folder}: {refusal.reason}; {refusal.remedy}")
    reader = SetReader(folder, [found[key] for key in keys], rules)
    read = read_to_end(reader, model)
    verdict = judge(read, rules, plays=plays, enough=enough, reach=reach)
    return SetVerdict(**dict(verdict), files=tuple(reader.reads))


def _key(path: Path, folder: Path) -> str:
    return layout.set_folder(_ANY, "set") + path.relative_to(folder).as_posix()


def _of_file(name: str, one: Problem) -> Problem:
    where = one.field if one.line else name
    said = f"{name}: {one.problem}" if one.line else one.problem
    return one.model_copy(update={"field": where, "problem": said})
