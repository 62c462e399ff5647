"""What the work of a phase says while it goes on, and at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from contracts.artifact import ArtifactRef
from contracts.result import ObjectReport
from training.assignment import Assignment


@dataclass(frozen=True)
class Advance:
    """A sign of life.

    Attributes:
        stage: what is being done, in an operator's words.
        step: how far, of `steps`; both 0 where that is not known.
        metrics: current figures, all finite.
    """

    stage: str
    step: int = 0
    steps: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Inspected:
    """What was found in the drops: goes into the result even when the work then fails."""

    objects: tuple[ObjectReport, ...]


@dataclass(frozen=True)
class Export:
    """A committed folder that the driver shall copy into the bucket.

    Attributes:
        folder: where it lies in the workspace.
        ref: what it is there.
        prefix: key prefix to copy it to, ending in a slash.
    """

    folder: Path
    ref: ArtifactRef
    prefix: str


@dataclass(frozen=True)
class Done:
    """The work's outcome: what becomes of it in the result."""

    outcome: Literal["succeeded", "no_data"] = "succeeded"
    artifacts: Mapping[str, ArtifactRef] = field(default_factory=dict)
    exports: Mapping[str, Export] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    resumed_from: str = ""
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Stopped:
    """The work ended because it was asked to, its state saved up to `step`."""

    step: int = 0


Event = Advance | Inspected | Done | Stopped
Materials = Mapping[str, Path]
"""Local, verified folders and files by name."""
Work = Callable[[Assignment, Materials], Iterator[Event]]
"""Runs in a Ray task: touches the workspace only, ends with `Done` or `Stopped`."""
