"""The checkpoints of one phase, over all its attempts: `<attempt>/step-<step>/`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contracts.artifact import ArtifactRef
from training.checkpoints.folders import STAGING, commit_folder
from training.checkpoints.pointer import Pointer
from training.checkpoints.retention import prune

_STEP = "step-"


@dataclass(frozen=True)
class Place:
    """Where a checkpoint lies in its series."""

    root: Path
    attempt: int
    step: int

    @property
    def folder(self) -> Path:
        """The checkpoint's folder."""
        return self.root / f"{self.attempt:02d}" / f"{_STEP}{self.step:08d}"

    def __str__(self) -> str:
        return f"step {self.step} of attempt {self.attempt}"


@dataclass(frozen=True)
class Series:
    """The checkpoints that an attempt may write and read.

    Attributes:
        root: folder of the series, the same for every attempt.
        run: the run; a checkpoint of another is not taken.
        attempt: the writer.
        keep: complete checkpoints to keep.
    """

    root: Path
    run: str
    attempt: int
    keep: int = 2

    def open(self) -> None:
        """Leave the trace that fences older attempts, and clear their unfinished writes."""
        (self.root / f"{self.attempt:02d}").mkdir(parents=True, exist_ok=True)
        for staging in self.root.glob(f"*/{STAGING}*"):
            shutil.rmtree(staging, ignore_errors=True)

    def save(self, step: int, fill: Callable[[Path], None]) -> ArtifactRef:
        """Write a checkpoint, then point to it, then prune the ones before.

        Raises:
            AttemptFenced: a newer attempt has taken the series over.
            OSError: the disk refuses; the checkpoints before are as they were.
        """
        place = Place(self.root, self.attempt, step)
        ref = commit_folder(place.folder, fill, kind="checkpoint", run=self.run, step=step)
        Pointer(attempt=self.attempt, step=step, manifest=ref.manifest).swap(self.root)
        newest_first = sorted(self.places(), key=lambda one: (one.attempt, one.step), reverse=True)
        prune([one.folder for one in newest_first], keep=self.keep)
        return ref

    def set_aside(self, place: Place) -> None:
        """Take a folder that cannot be used out of the series, but leave it to be looked at."""
        place.folder.replace(place.folder.with_name(f"unusable-{place.folder.name}"))

    def places(self) -> list[Place]:
        """Every folder that has a checkpoint's name, newest step and then attempt first."""
        found = [
            Place(self.root, int(path.parent.name), int(path.name.removeprefix(_STEP)))
            for path in self.root.glob(f"*/{_STEP}*")
            if path.parent.name.isdecimal() and path.name.removeprefix(_STEP).isdecimal()
        ]
        return sorted(found, key=lambda place: (place.step, place.attempt), reverse=True)
