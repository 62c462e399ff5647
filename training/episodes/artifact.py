"""The episodes artifact of dropped data: shards of pairs and episodes, and what they are for."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from contracts.artifact import ArtifactRef
from contracts.errors import ContractBroken
from contracts.model import Stored
from training.checkpoints.folders import commit_folder
from trajectories.labelling import Labelled
from trajectories.learnable import Learnable
from trajectories.pair import Pair
from trajectories.shards import read_shards
from trajectories.trajectory import Trajectory

TRAIN = "train"
HELD_OUT = "held_out"
DEMONSTRATIONS = "demonstrations"
CONTENTS = "contents.json"


class Contents(Stored):
    """`contents.json`: what the shards beside it hold, and which of it is learnt from."""

    kind: Literal["pairs", "labels", "episodes", "nothing"] = Field(
        description="What a step of the recipe learns from that leaves it to the data."
    )
    why: str = Field(description="One sentence with numbers.")
    train_pairs: int = Field(ge=0)
    held_out_pairs: int = Field(ge=0)
    demonstrations: int = Field(ge=0)
    train_good: int = Field(ge=0)
    train_bad: int = Field(ge=0)
    held_out_good: int = Field(ge=0)
    held_out_bad: int = Field(ge=0)

    @classmethod
    def of(cls, made: Learnable) -> Contents:
        """Count what can be learnt."""
        train = sum(one.good for one in made.labelled_training)
        held_out = sum(one.good for one in made.labelled_held_out)
        return cls(
            kind=made.kind,
            why=made.why,
            train_pairs=len(made.training),
            held_out_pairs=len(made.held_out),
            demonstrations=len(made.demonstrations),
            train_good=train,
            train_bad=len(made.labelled_training) - train,
            held_out_good=held_out,
            held_out_bad=len(made.labelled_held_out) - held_out,
        )


def set_of(side: str, *, good: bool) -> str:
    """Name of the shards of good or bad episodes of `TRAIN` or `HELD_OUT`."""
    return f"{side}_{'good' if good else 'bad'}"


def commit_episodes(target: Path, written: Path, *, run: str) -> ArtifactRef:
    """Commit shards and contents that lie in another folder of the same file system.

    Raises:
        OSError: the disk refuses.
    """

    def fill(folder: Path) -> None:
        for path in sorted(written.iterdir()):
            path.rename(folder / path.name)

    return commit_folder(target, fill, kind="episodes", run=run)


def read_contents(folder: Path) -> Contents:
    """Read what a verified episodes folder says of itself.

    Raises:
        ContractBroken: it is not of this form.
    """
    path = folder / CONTENTS
    try:
        return Contents.from_bytes(path.read_bytes(), where=str(path))
    except OSError as error:
        raise ContractBroken(f"{path} cannot be read: {error}") from error


def pairs_in(folder: Path, name: str) -> Iterator[Pair]:
    """Read the pairs `TRAIN` or `HELD_OUT` of a verified episodes folder one by one.

    Raises:
        ContractBroken: a record is not a pair.
    """
    return (_pair(one, folder) for one in read_shards(folder, name))


def demonstrations_in(folder: Path) -> Iterator[Trajectory]:
    """Read the demonstrations of a verified episodes folder one by one.

    Raises:
        ContractBroken: a record is not a trajectory.
    """
    return (_trajectory(one, folder) for one in read_shards(folder, DEMONSTRATIONS))


def labelled_in(folder: Path, name: str) -> Iterator[Labelled]:
    """Read the good and bad episodes of `TRAIN` or `HELD_OUT`, in the order of their ids.

    Raises:
        ContractBroken: a record is not a trajectory.
    """
    return heapq.merge(
        *(episodes_in(folder, name, good=good) for good in (True, False)),
        key=lambda one: one.trajectory.id,
    )


def episodes_in(folder: Path, name: str, *, good: bool) -> Iterator[Labelled]:
    """Read the good or the bad episodes of `TRAIN` or `HELD_OUT`, in the order of their ids.

    Raises:
        ContractBroken: a record is not a trajectory.
    """
    shards = read_shards(folder, set_of(name, good=good))
    return (Labelled(_trajectory(one, folder), good) for one in shards)


def _pair(record: Pair | Trajectory, folder: Path) -> Pair:
    if not isinstance(record, Pair):
        raise ContractBroken(f"{folder}: holds an episode where a pair was expected")
    return record


def _trajectory(record: Pair | Trajectory, folder: Path) -> Trajectory:
    if not isinstance(record, Trajectory):
        raise ContractBroken(f"{folder}: holds a pair where an episode was expected")
    return record
