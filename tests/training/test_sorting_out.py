"""Sorting out on disk comes to what sorting out in memory does, and needs no memory for it."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.pipeline import DataRules
from training.episodes import buckets, comparing, sorting_out
from training.episodes.artifact import DEMONSTRATIONS, HELD_OUT, TRAIN, Contents, read_contents
from training.episodes.buckets import Buckets
from training.episodes.gathering import Gathering
from training.episodes.sorting_out import SortingOut
from trajectories.learnable import Learnable, learnable
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.pairing_episodes import pair_of
from trajectories.shards import write_shards
from trajectories.trajectory import Trajectory

ROOT = Path(__file__).parents[2]
Record = Pair | Trajectory


def say(role: str, content: str, **more: Any) -> Message:
    return Message.model_validate({"role": role, "content": content, **more})


WORDS = st.sampled_from(["a", "b", "c d", "c  d"])
OPENING = st.lists(WORDS, min_size=1, max_size=1).map(lambda said: [say("user", *said)])
ANSWERS = st.lists(
    st.builds(say, st.just("assistant"), WORDS, learnt=st.booleans()), min_size=1, max_size=2
)
SHOWING = st.just([say("user", "look", images=("a.png",))])
PAIRS = st.builds(
    Pair.of,
    OPENING | OPENING | SHOWING,
    ANSWERS,
    ANSWERS,
    tools=st.sampled_from(["", "[]"]),
    task=st.sampled_from(["", "", "t1"]),
    metadata=st.dictionaries(st.just("n"), st.integers(0, 3), max_size=1),
)
EPISODES = st.builds(
    lambda task, trial, reward, opening, play, **more: Trajectory.of(
        task, trial, reward, [*opening, *play], **more
    ),
    st.sampled_from(["t1", "t2", "t3"]),
    st.sampled_from(["", "1"]),
    st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    OPENING | OPENING | SHOWING,
    ANSWERS | st.just([]),
    label=st.none() | st.booleans(),
    metadata=st.dictionaries(st.just("n"), st.integers(0, 3), max_size=1),
)
SOURCES = st.lists(st.lists(PAIRS | EPISODES, max_size=9), min_size=1, max_size=3)


def in_memory(sources: list[list[Record]], rules: DataRules, *, plays: bool) -> Learnable:
    firsts: dict[str, Record] = {}
    for one in (record for source in sources for record in source):
        firsts.setdefault(one.id, one)
    kinds = (
        [one for one in firsts.values() if isinstance(one, kind)] for kind in (Pair, Trajectory)
    )
    return learnable(*kinds, rules, plays=plays)


def on_disk(
    folder: Path, sources: list[list[Record]], rules: DataRules, *, plays: bool, bad: int | None
) -> SortingOut:
    scratch, shards = folder / "scratch", folder / "disk"
    for made in (scratch, shards):
        made.mkdir()
    gathering = Gathering(scratch, rules, plays=plays)
    for number, source in enumerate(sources):
        for record in source:
            gathering.add(number, record)
        if number == bad:
            gathering.refuse(number)
    found = SortingOut(gathering, rules, plays=plays, folder=shards, scratch=scratch)
    list(found.run())
    return found


def write(folder: Path, made: Learnable) -> None:
    """What an episodes folder holds, written from memory."""
    folder.mkdir()
    write_shards(folder, TRAIN, made.training)
    write_shards(folder, HELD_OUT, made.held_out)
    write_shards(folder, DEMONSTRATIONS, made.demonstrations)
    for side, labels in ((TRAIN, made.labelled_training), (HELD_OUT, made.labelled_held_out)):
        for name, good in (("good", True), ("bad", False)):
            some = (one.trajectory for one in labels if one.good is good)
            write_shards(folder, f"{side}_{name}", some)
    (folder / "contents.json").write_bytes(Contents.of(made).to_bytes())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    sources=SOURCES,
    plays=st.booleans(),
    bad=st.none() | st.just(0),
    wanted=st.sampled_from(["auto", "pairs", "labels"]),
    per_task=st.sampled_from([1, 2, 128]),
    held=st.sampled_from([1, 2_000, 10**9]),
)
def test_the_files_are_those_of_sorting_out_in_memory_to_a_byte(
    sources: list[list[Record]],
    plays: bool,
    bad: int | None,
    wanted: Any,
    per_task: int,
    held: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("sorted")
    rules = DataRules(learn_from=wanted, pairs_per_task=per_task, held_out_share=0.4)
    good = [source for number, source in enumerate(sources) if number != bad]
    write(folder / "memory", in_memory(good, rules, plays=plays))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "HELD_BYTES", held)
        patch.setattr(buckets, "BUCKET_BYTES", held)
        found = on_disk(folder, sources, rules, plays=plays, bad=bad)
    assert files(folder / "disk") == files(folder / "memory")
    assert read_contents(folder / "disk") == found.contents
    ids = [one.id for source in good for one in source]
    assert found.pairs + found.episodes == len(set(ids))


def test_a_task_of_many_pairs_gives_signs_of_life_while_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def counted(better: Trajectory, worse: Trajectory) -> Pair | None:
        compared.append(better.id)
        return pair_of(better, worse)

    monkeypatch.setattr(comparing, "pair_of", counted)
    monkeypatch.setattr(sorting_out, "SAID_EVERY", 10)
    rules = DataRules(pairs_per_task=100)
    gathering = Gathering(tmp_path, rules, plays=False)
    for reward in range(20):
        turns = [say("user", "a"), say("assistant", f"b {reward}")]
        gathering.add(0, Trajectory.of("t", "", reward, turns))
    shards = tmp_path / "shards"
    shards.mkdir()
    found = SortingOut(gathering, rules, plays=False, folder=shards, scratch=tmp_path)
    heard = [len(compared) for _ in found.run()]
    assert len(compared) == 100
    assert max(after - before for before, after in pairwise([0, *heard])) <= 10


def test_duplicates_are_those_of_the_sources_that_count(tmp_path: Path) -> None:
    pair = Pair.of([say("user", "a")], [say("assistant", "b")], [say("assistant", "c")])
    gathering = Gathering(tmp_path, DataRules(), plays=False)
    for source in (0, 0, 1, 2):
        gathering.add(source, pair)
    gathering.refuse(0)
    assert [one.source for one in gathering.pairs()] == [1]
    assert gathering.duplicates == 1


@settings(max_examples=60, deadline=None)
@given(
    numbers=st.lists(st.integers(0, 40), max_size=60),
    held=st.sampled_from([1, 300, 10**9]),
    alike=st.sampled_from([0, 3, 64]),
)
def test_what_is_filed_comes_back_by_digest_in_the_order_of_adding(
    numbers: list[int], held: int, alike: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    filed: dict[str, list[bytes]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "HELD_BYTES", held)
        patch.setattr(buckets, "BUCKET_BYTES", held)
        made = Buckets(tmp_path_factory.mktemp("filed") / "buckets")
        for place, number in enumerate(numbers):
            digest = "a" * alike + f"{number * 7919 % 41:064x}"[alike:]
            filed.setdefault(digest, []).append(b"%d" % place)
            made.add(digest, b"%d" % place)
        for _ in range(2):
            found = list(made.filed())
            assert [(one.digest, one.lines) for one in found] == sorted(filed.items())
            firsts = list(made.filed(most=1))
            assert [one.lines for one in firsts] == [
                lines[:1] for _, lines in sorted(filed.items())
            ]
            assert [one.total for one in firsts] == [
                len(lines) for _, lines in sorted(filed.items())
            ]


PROGRAM = """
import resource, sys
from pathlib import Path
from contracts.pipeline import DataRules
from training.episodes.gathering import Gathering
from training.episodes.sorting_out import SortingOut
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory
import pyarrow.parquet

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

kind, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
shards = folder / "shards"
shards.mkdir()
rules = DataRules()
gathering = Gathering(folder, rules, plays=False)

def turn(role, number):
    return Message(role=role, content=f"{role} {number} " + f"{number:09}" * 200)

for number in range(count):
    turns = [turn("user", number // 4), turn("assistant", number)]
    if kind == "pairs":
        record = Pair.of(turns[:1], turns[1:], [turn("assistant", -number - 1)])
    else:
        record = Trajectory.of(f"t{number // 4}", "", number % 4, turns)
    gathering.add(0, record)
found = SortingOut(gathering, rules, plays=False, folder=shards, scratch=folder)
list(found.run())
assert found.pairs + found.episodes == count
assert found.contents.train_pairs
print(peak())
"""


def peak_mib(folder: Path, kind: str, count: int) -> int:
    folder.mkdir()
    command = [sys.executable, "-c", PROGRAM, kind, str(folder), str(count)]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, timeout=200
    )
    return int(done.stdout)


@pytest.mark.parametrize("kind", ["pairs", "episodes"])
def test_memory_does_not_grow_with_the_records(tmp_path: Path, kind: str) -> None:
    """15,000 records more are over 60 MB of text, and more than twice that as objects."""
    few = peak_mib(tmp_path / "few", kind, 5_000)
    many = peak_mib(tmp_path / "many", kind, 20_000)
    assert many - few < 40
