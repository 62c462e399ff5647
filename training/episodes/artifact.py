"""The episodes artifact: pairs to train on and pairs held out, as canonical JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from contracts.artifact import ArtifactRef
from contracts.errors import DataUnusable
from training.checkpoints.folders import commit_folder
from trajectories.pair import Pair

TRAIN = "train.jsonl"
HELD_OUT = "held_out.jsonl"


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs without repetitions, in an order that does not depend on how they came."""
    return sorted({pair.id: pair for pair in pairs}.values(), key=lambda pair: pair.id)


def require_both_sides(train: Sequence[Pair], held_out: Sequence[Pair], share: float) -> None:
    """Make sure that there is something to learn from and something to judge by.

    Raises:
        DataUnusable: one side is empty.
    """
    if train and held_out:
        return
    lacking = "train on" if not train else "judge by"
    needed = round(3 / min(share, 1 - share))
    raise DataUnusable(
        f"{len(train) + len(held_out)} usable pairs leave none to {lacking} when a share of "
        f"{share:g} of the prompts is held out; drop at least {needed} pairs of different prompts"
    )


def write_episodes(
    target: Path, train: Sequence[Pair], held_out: Sequence[Pair], *, run: str
) -> ArtifactRef:
    """Commit an episodes folder.

    Raises:
        OSError: the disk refuses.
    """

    def fill(folder: Path) -> None:
        for name, pairs in ((TRAIN, train), (HELD_OUT, held_out)):
            with (folder / name).open("wb") as file:
                file.writelines(pair.to_line() for pair in pairs)

    return commit_folder(target, fill, kind="episodes", run=run)


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
