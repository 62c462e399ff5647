"""A lesson: one step of a round's recipe, gone through unit by unit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training.algorithms.party import ALONE, Party
from training.assignment import Assignment
from training.events import Event
from training.models.protocols import CausalModel, Tokenizer
from training.stopwatch import Stopwatch

if TYPE_CHECKING:
    from torch.nn import Parameter
    from torch.optim import Optimizer


@dataclass(frozen=True)
class Beginning:
    """The policy that a lesson begins from.

    Attributes:
        folder: a verified folder that holds it.
        manifest: digest of that folder's manifest.
        number: of the lesson among the recipe's, counted from 0.
    """

    folder: Path
    manifest: str
    number: int = 0


@dataclass
class Classroom:
    """What all lessons of a training share.

    Attributes:
        assignment: the attempt's orders.
        episodes: folder of the episodes artifact.
        model: the policy, learning on from lesson to lesson.
        tokenizer: its tokenizer.
        pad: id of the padding.
        device: where the model is.
        watch: where the time goes.
        asked_to_stop: whether the attempt shall end soon.
        party: those who learn together; the first of them writes.
    """

    assignment: Assignment
    episodes: Path
    model: CausalModel
    tokenizer: Tokenizer
    pad: int
    device: str
    watch: Stopwatch
    asked_to_stop: Callable[[], bool]
    party: Party = ALONE

    @property
    def context(self) -> int:
        """Longest sequence in tokens."""
        return self.assignment.plan.pipeline.model.context


class Lesson(ABC):
    """One step of the recipe.

    Attributes:
        size: units of the whole lesson: optimiser steps, or iterations.
        done: units gone through.
        checkpoint_every: units between checkpoints.
        figures: the newest, all finite.
        counts: of what is learnt from.
        notes: sentences about it that an operator should know.
        optimizer: over `parameters`, in their order.
    """

    size: int
    checkpoint_every: int
    optimizer: Optimizer

    def __init__(self, room: Classroom, beginning: Beginning) -> None:
        self.room = room
        self.beginning = beginning
        self.done = 0
        self.figures: dict[str, float] = {}
        self.counts: dict[str, float] = {}
        self.notes: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return self.done >= self.size

    @property
    def seed(self) -> int:
        """Of the order of what is learnt from: the round's, moved on by the lessons before."""
        return (self.room.assignment.seed + 7_000_003 * self.beginning.number) % 2**31

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """All that is learnt, by name."""
        return dict(self.room.model.named_parameters())

    @abstractmethod
    def prepare(self, *, fresh: bool) -> Iterator[Event]:
        """Load what is learnt from, and make the optimiser.

        Args:
            fresh: whether the classroom's model is the one that the lesson begins from; else it
                has come further already.
        """

    def open(self) -> None:  # noqa: B027 - most have nothing to look at
        """Look at where the policy stands before the first unit of this attempt."""

    @abstractmethod
    def advance(self) -> Iterator[None]:
        """Go through one unit; `done` grows by one unless a stop was asked for in time.

        Yields:
            Signs of life, while it takes long.
        """

    def save(self, folder: Path) -> dict[str, list[float]]:
        """Write what is neither policy nor optimiser into an existing folder; a small memory."""
        del folder
        return {}

    def restore(self, folder: Path, memory: Mapping[str, list[float]]) -> None:
        """Take back what `save` wrote and returned."""
        del folder, memory
