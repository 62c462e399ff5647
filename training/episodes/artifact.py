"""The episodes artifact of dropped data: pairs and demonstrations, as canonical JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from contracts.artifact import ArtifactRef
from training.checkpoints.folders import commit_folder
from trajectories.learnable import Learnable
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

TRAIN = "train.jsonl"
HELD_OUT = "held_out.jsonl"
DEMONSTRATIONS = "demonstrations.jsonl"


def write_learnable(folder: Path, made: Learnable) -> None:
    """Write the three files into an existing folder.

    Raises:
        OSError: the disk refuses.
    """
    _write(folder / TRAIN, (pair.to_line() for pair in made.training))
    _write(folder / HELD_OUT, (pair.to_line() for pair in made.held_out))
    _write(folder / DEMONSTRATIONS, (one.to_line() for one in made.demonstrations))


def write_episodes(target: Path, made: Learnable, *, run: str) -> ArtifactRef:
    """Commit an episodes folder.

    Raises:
        OSError: the disk refuses.
    """
    return commit_folder(
        target, lambda folder: write_learnable(folder, made), kind="episodes", run=run
    )


def read_pairs_of(folder: Path, name: str) -> list[Pair]:
    """Read `TRAIN` or `HELD_OUT` of a verified episodes folder.

    Raises:
        ContractBroken: a line is not a pair.
    """
    path = folder / name
    with path.open("rb") as file:
        return [
            Pair.from_line(line, where=f"{path}:{number}") for number, line in enumerate(file, 1)
        ]


def read_demonstrations(folder: Path) -> list[Trajectory]:
    """Read the demonstrations of a verified episodes folder.

    Raises:
        ContractBroken: a line is not a trajectory.
    """
    path = folder / DEMONSTRATIONS
    with path.open("rb") as file:
        return [
            Trajectory.from_line(line, where=f"{path}:{number}")
            for number, line in enumerate(file, 1)
        ]


def _write(path: Path, lines: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(lines)
