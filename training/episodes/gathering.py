"""Usable records as they come, on disk under their ids, with what is to be known of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from contracts.model import digest
from contracts.pipeline import DataRules
from training.episodes.buckets import Buckets
from trajectories.canonical import canonical
from trajectories.labelling import compares, is_good, is_learnable
from trajectories.message import plain
from trajectories.pair import Pair
from trajectories.shard_rows import Row, row_of
from trajectories.splitting import is_set_aside, task_is_held_out, task_of
from trajectories.trajectory import Trajectory


class GatheredPair(NamedTuple):
    """A pair.

    Attributes:
        source: number of the object that it came in.
        compares: whether something can be learnt from it.
        held_out: which side of the split it is on.
        row: the record.
    """

    source: int
    compares: bool
    held_out: bool
    row: Row


class GatheredEpisode(NamedTuple):
    """An episode.

    Attributes:
        source: number of the object that it came in.
        answers: whether the assistant says anything in it.
        learnable: whether something can be learnt from it.
        good: whether that is to be imitated.
        held_out: which side of the split it is on.
        group: digest of its task and opening, where it may be compared with others of those.
        row: the record.
    """

    source: int
    answers: bool
    learnable: bool
    good: bool
    held_out: bool
    group: str
    row: Row


class Gathering:
    """Takes records one by one; gives them back distinct and in the order of their ids.

    Of records with one id the first is given. Records of a source that is refused are not.
    """

    def __init__(self, folder: Path, rules: DataRules, *, plays: bool) -> None:
        """Begin empty.

        Args:
            folder: for what does not fit in memory; need not exist.
            rules: the pipeline's.
            plays: whether the pipeline has an environment.
        """
        self._rules = rules
        self._plays = plays
        self._filed = {name: Buckets(folder / name) for name in ("pairs", "episodes")}
        self._refused: set[int] = set()
        self._repeated: dict[str, int] = {}

    def add(self, source: int, record: Pair | Trajectory) -> None:
        """Take a record.

        Raises:
            OSError: the disk refuses.
        """
        if isinstance(record, Pair):
            self._filed["pairs"].add(record.id, _line(self._pair(source, record)))
        else:
            self._filed["episodes"].add(record.id, _line(self._episode(source, record)))

    def refuse(self, source: int) -> None:
        """Take back all records of a source."""
        self._refused.add(source)

    def pairs(self) -> Iterator[GatheredPair]:
        """All pairs; may be gone through again."""
        return (GatheredPair(*one) for one in self._firsts("pairs"))

    def episodes(self) -> Iterator[GatheredEpisode]:
        """All episodes; may be gone through again."""
        return (GatheredEpisode(*one) for one in self._firsts("episodes"))

    @property
    def duplicates(self) -> int:
        """Records that were not given as one like them was, of all that was gone through."""
        return sum(self._repeated.values())

    def _firsts(self, name: str) -> Iterator[list[Any]]:
        repeated = 0
        for one in self._filed[name].filed(self._wanted, most=1):
            repeated += one.total - 1
            yield orjson.loads(one.lines[0])
        self._repeated[name] = repeated

    def _wanted(self, line: bytes) -> bool:
        return not self._refused or int(line[1 : line.index(b",")]) not in self._refused

    def _pair(self, source: int, pair: Pair) -> GatheredPair:
        kept = is_kept(pair, self._rules, plays=self._plays)
        return GatheredPair(source, compares(pair), kept, row_of(pair))

    def _episode(self, source: int, one: Trajectory) -> GatheredEpisode:
        learnable = is_learnable(one)
        return GatheredEpisode(
            source,
            any(turn.role == "assistant" for turn in one.messages),
            learnable,
            is_good(one, self._rules.good_reward),
            task_is_held_out(one.task, self._rules.held_out_share),
            group_of(one) if learnable and one.reward is not None and one.play else "",
            row_of(one),
        )


def is_kept(pair: Pair, rules: DataRules, *, plays: bool) -> bool:
    """Whether a pair is kept from training."""
    if plays:
        return is_set_aside(pair.id, rules.held_out_share)
    return task_is_held_out(task_of(pair), rules.held_out_share)


def group_of(one: Trajectory) -> str:
    """Digest of what episodes must share to be compared."""
    return digest(canonical([{"task": one.task}, *plain(one.opening)]))


def _line(one: GatheredPair | GatheredEpisode) -> bytes:
    return orjson.dumps(tuple(one))
