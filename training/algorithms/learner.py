"""What every learner from a fixed set of examples has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from training.algorithms.party import ALONE, Party
from training.models.protocols import CausalModel

if TYPE_CHECKING:
    from torch.optim import Optimizer

Recipe = TypeVar("Recipe")


@dataclass
class Learner(Generic[Recipe]):
    """A policy, the optimiser that moves it, and how.

    Attributes:
        model: a causal language model with dropout off.
        optimizer: over the model's parameters.
        recipe: the hyperparameters.
        pad: id of the padding.
        device: where the model is.
        party: those who learn together.
    """

    model: CausalModel
    optimizer: Optimizer
    recipe: Recipe
    pad: int
    device: str = "cpu"
    party: Party = ALONE
