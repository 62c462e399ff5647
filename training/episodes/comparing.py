"""Pairs out of episodes that are not in memory: who is compared with whom, and then the pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import orjson

from contracts.pipeline import DataRules
from training.episodes.buckets import Buckets, Filed
from training.episodes.gathering import GatheredEpisode, GatheredPair, is_kept
from training.episodes.values_file import Place, ValuesFile
from trajectories.pairing_episodes import Ranked, matches, pair_of
from trajectories.shard_rows import record_of, row_of
from trajectories.trajectory import Trajectory

_MADE = -1
"""The source of what came in no object."""
_AT_HAND = 64
"""Episodes of a group that are kept in memory; most are in several pairs."""


class Comparing:
    """Does what `pairing_episodes.pairs_of` does.

    In memory are the rewards and ids of one group at a time, a few hundred bytes an episode.
    """

    def __init__(self, folder: Path, rules: DataRules, *, plays: bool) -> None:
        """Begin empty.

        Args:
            folder: an existing one for what is on disk.
            rules: the pipeline's.
            plays: whether the pipeline has an environment.
        """
        self._rules = rules
        self._plays = plays
        self._rows = ValuesFile(folder)
        self._groups = Buckets(folder / "groups")
        self._made = Buckets(folder / "made")
        self._record = lru_cache(_AT_HAND)(self._read)

    def add(self, one: GatheredEpisode) -> None:
        """Take an episode that may be compared, in the order of the ids.

        Raises:
            OSError: the disk refuses.
        """
        place = self._rows.add(orjson.dumps({**one.row, "metadata": "{}"}))
        line = orjson.dumps([one.row["reward"], one.row["id"], *place])
        self._groups.add(one.group, line)

    def compare(self) -> Iterator[None]:
        """Make the pairs of all groups, saying of each group and each comparison when it is done.

        Raises:
            OSError: the disk refuses.
        """
        for group in self._groups.filed():
            yield from self._compare(group)
            yield

    def pairs(self) -> Iterator[GatheredPair]:
        """The pairs, distinct and in the order of their ids."""
        for one in self._made.filed():
            # Of pairs that say the same, the one of the group that begins with the highest id.
            told = max((orjson.loads(line) for line in one.lines), key=lambda of: str(of[0]))
            yield GatheredPair(_MADE, True, *told[1:])

    def close(self) -> None:
        """Give the disk its room back."""
        self._rows.close()

    def _compare(self, group: Filed) -> Iterator[None]:
        told = [orjson.loads(line) for line in group.lines]
        ranked = [(Ranked(reward, id_), Place(*place)) for reward, id_, *place in told]
        first = min(id_ for _, id_, *_ in told)
        del told
        rules = self._rules
        for better, worse in matches(ranked, rules.min_reward_gap, rules.pairs_per_task):
            pair = pair_of(self._record(better), self._record(worse))
            if pair is not None:
                kept = is_kept(pair, rules, plays=self._plays)
                self._made.add(pair.id, orjson.dumps([first, kept, row_of(pair)]))
            yield

    def _read(self, place: Place) -> Trajectory:
        record = record_of(orjson.loads(self._rows.at(place)))
        assert isinstance(record, Trajectory)
        return record
