"""What can be learnt from all that was gathered, as shards: what `learnable` does, on disk."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple, TypeVar

import orjson

from contracts.pipeline import DataRules
from training.episodes.artifact import CONTENTS, DEMONSTRATIONS, HELD_OUT, TRAIN, Contents, set_of
from training.episodes.buckets import Buckets
from training.episodes.comparing import Comparing
from training.episodes.gathering import GatheredEpisode, GatheredPair, Gathering
from trajectories.choosing import Choice, choose_for_play, choose_of_counts
from trajectories.labelling import sides_of
from trajectories.pair import Pair
from trajectories.shard_rows import Row, record_of, row_of
from trajectories.shards import ShardWriter
from trajectories.splitting import task_of

SAID_EVERY = 5_000
"""Records: a second or less of sorting."""
_SETS = (
    *(TRAIN, HELD_OUT, DEMONSTRATIONS),
    *(set_of(side, good=good) for side in (TRAIN, HELD_OUT) for good in (True, False)),
)


class Label(NamedTuple):
    """A row, whether it is one to imitate, and which side of the split it is on."""

    good: bool
    held_out: bool
    row: Row


One = TypeVar("One", Label, GatheredPair)


class SortingOut:
    """Goes through what was gathered, id by id, and writes the shards of an episodes artifact.

    Attributes:
        pairs: distinct ones, whether or not something can be learnt from them.
        episodes: the same.
        answered: of the episodes, those in which the assistant says something.
        learnable: of those, the ones that something can be learnt from.
        rewards: of the demonstrations that have one.
        rewarded: how many those are.
    """

    def __init__(
        self, gathering: Gathering, rules: DataRules, *, plays: bool, folder: Path, scratch: Path
    ) -> None:
        """Prepare to sort out.

        Args:
            gathering: all records.
            rules: the pipeline's.
            plays: whether the pipeline has an environment.
            folder: an existing one for the shards.
            scratch: an existing one for what is needed on the way.
        """
        self.pairs = self.episodes = self.answered = self.learnable = self.rewarded = 0
        self.rewards = 0.0
        self._gathering = gathering
        self._rules = rules
        self._plays = plays
        self._folder = folder
        self._sides = Buckets(scratch / "sides")
        self._comparing = Comparing(scratch, rules, plays=plays)
        self._writers: dict[str, ShardWriter] = {}

    def run(self) -> Iterator[int]:
        """Write it all, saying now and then how many records were gone through in some way.

        Raises:
            OSError: the disk refuses.
        """
        with ExitStack() as stack:
            stack.callback(self._comparing.close)
            for name in _SETS:
                writer = ShardWriter(self._folder, name)
                self._writers[name] = stack.enter_context(writer)
            steps = chain(self._part_pairs(), self._write_episodes(), self._comparing.compare())
            done = 0
            for done, _ in enumerate(chain(steps, self._write_pairs()), 1):
                if not done % SAID_EVERY:
                    yield done
        (self._folder / CONTENTS).write_bytes(self.contents.to_bytes())

    @property
    def mean_reward(self) -> float | None:
        """Of the demonstrations that have one, if any has."""
        return self.rewards / self.rewarded if self.rewarded else None

    @property
    def contents(self) -> Contents:
        """What the shards hold; final when all is written."""
        count = {name: writer.written for name, writer in self._writers.items()}
        choice = self._choose(count)
        return Contents(
            kind=choice.kind,
            why=choice.why,
            train_pairs=count[TRAIN],
            held_out_pairs=count[HELD_OUT],
            demonstrations=count[DEMONSTRATIONS],
            train_good=count[set_of(TRAIN, good=True)],
            train_bad=count[set_of(TRAIN, good=False)],
            held_out_good=count[set_of(HELD_OUT, good=True)],
            held_out_bad=count[set_of(HELD_OUT, good=False)],
        )

    def _choose(self, count: Mapping[str, int]) -> Choice:
        pairs = count[TRAIN], count[HELD_OUT]
        if self._plays:
            return choose_for_play(self.learnable, sum(pairs))
        good, bad = (
            sum(count[set_of(side, good=label)] for side in (TRAIN, HELD_OUT))
            for label in (True, False)
        )
        return choose_of_counts(pairs, (good, bad), self.learnable, self._rules)

    def _part_pairs(self) -> Iterator[None]:
        """File the two sides of each pair as labels."""
        for one in self._gathering.pairs():
            self.pairs += 1
            if one.compares and not self._plays:
                pair = record_of(one.row)
                assert isinstance(pair, Pair)
                for side in sides_of(pair, task_of(pair)):
                    label = Label(side.good, one.held_out, row_of(side.trajectory))
                    self._sides.add(side.trajectory.id, orjson.dumps(tuple(label)))
            yield

    def _write_episodes(self) -> Iterator[None]:
        """Write demonstrations, or labels; an episode goes before a pair's side of its id."""
        if self._plays:
            for one in self._learnable():
                self._writers[DEMONSTRATIONS].add(one.row)
                if one.row["reward"] is not None:
                    self.rewarded += 1
                    self.rewards += one.row["reward"]
                yield
            return
        sides = (Label(*orjson.loads(one.lines[0])) for one in self._sides.filed(most=1))
        labels = (Label(one.good, one.held_out, one.row) for one in self._learnable())
        for label in _firsts(labels, sides):
            side = HELD_OUT if label.held_out else TRAIN
            self._writers[set_of(side, good=label.good)].add(label.row)
            yield

    def _learnable(self) -> Iterator[GatheredEpisode]:
        """Episodes that something can be learnt from, remembered to be compared."""
        for one in self._gathering.episodes():
            self.episodes += 1
            self.answered += one.answers
            if not one.learnable:
                continue
            self.learnable += 1
            if one.group:
                self._comparing.add(one)
            yield one

    def _write_pairs(self) -> Iterator[None]:
        """Write the pairs; one that was dropped goes before one that was made."""
        given = (one for one in self._gathering.pairs() if one.compares)
        for one in _firsts(given, self._comparing.pairs()):
            self._writers[HELD_OUT if one.held_out else TRAIN].add(one.row)
            yield


def _firsts(*streams: Iterable[One]) -> Iterator[One]:
    """All that is in some streams in the order of ids; of one id, the earlier stream's."""
    merged = heapq.merge(*streams, key=_id)
    return (next(some) for _, some in groupby(merged, key=_id))


def _id(one: Label | GatheredPair) -> str:
    id_: str = one.row["id"]
    return id_
