"""A training's state as files: safetensors and JSON, nothing that has to be unpickled."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from contracts.errors import JobFailed
from contracts.model import Stored
from contracts.names import Digest

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter
    from torch.optim import Optimizer

OPTIMIZER = "optimizer.safetensors"
GENERATORS = "generators.safetensors"
TRAINING = "training.json"


class TrainingState(Stored):
    """`training.json`: where a training stands. The order of data follows from seed and place."""

    step: int = Field(ge=0, description="Units done of the whole recipe, or left out by its end.")
    lesson: int = Field(0, ge=0, description="Which step of the recipe, counted from 0.")
    done: int = Field(ge=0, description="Of it: optimiser steps, or iterations.")
    beginning: Digest = Field(description="Manifest of the policy that it began from.")
    memory: dict[str, list[float]] = Field({}, description="What it has to remember besides.")
    seed: int
    fingerprint: Digest = Field(description="Of all that the weights depend on, the step apart.")
    python_generator: list[int] = Field(description="Mersenne Twister words, position last.")
    numpy_position: int
    metrics: dict[str, float] = Field({}, description="Of this step of the recipe.")
    earlier: dict[str, float] = Field({}, description="Of those before it.")

    @classmethod
    def read(cls, folder: Path) -> TrainingState:
        """Read it from a checkpoint.

        Raises:
            ContractBroken: it is not of this form.
            OSError: it cannot be read.
        """
        path = folder / TRAINING
        return cls.from_bytes(path.read_bytes(), where=str(path))

    def write(self, folder: Path) -> None:
        """Write it into an existing folder."""
        (folder / TRAINING).write_bytes(self.to_bytes())


class Generators(NamedTuple):
    """Where Python's and numpy's generators stand, as far as JSON holds it."""

    python: list[int]
    numpy_position: int


def save_generators(folder: Path) -> Generators:
    """Write the generators' states; the small parts are returned, to go into `TrainingState`."""
    import numpy as np
    import torch
    from safetensors.torch import save_file

    _, words, position, _, _ = np.random.get_state()
    tensors = {
        "torch": torch.get_rng_state(),
        "numpy": torch.from_numpy(np.asarray(words).astype("int64")),
    }
    save_file(tensors, folder / GENERATORS)
    return Generators(list(random.getstate()[1]), int(position))


def save_optimizer(folder: Path, parameters: Mapping[str, Parameter], optimizer: Optimizer) -> None:
    """Write the moments of every parameter, by name; each must have been stepped."""
    from safetensors.torch import save_file

    tensors: dict[str, Tensor] = {
        f"{name}/{part}": optimizer.state[parameter][part].detach().contiguous()
        for name, parameter in parameters.items()
        for part in _PARTS
    }
    save_file(tensors, folder / OPTIMIZER)


def refuse_unfinite(parameters: Mapping[str, Parameter], step: int) -> None:
    """Make sure that every weight is a number; such a checkpoint is never written.

    Raises:
        JobFailed: names the first that is not.
    """
    import torch

    for name, weight in parameters.items():
        if not bool(torch.isfinite(weight).all()):
            raise JobFailed(
                f"{name} holds NaN or infinity after step {step}; nothing was saved. "
                "Lower learning_rate, or look for broken text in the data"
            )


def load_optimizer(folder: Path, parameters: Mapping[str, Parameter], optimizer: Optimizer) -> None:
    """Give a fresh optimiser the moments of a verified checkpoint.

    Args:
        folder: the checkpoint.
        parameters: in the order in which the optimiser was given them.
        optimizer: over exactly these.

    Raises:
        JobFailed: the file does not hold the moments of these parameters.
    """
    from safetensors.torch import load_file

    tensors = load_file(folder / OPTIMIZER)
    names = list(parameters)
    expected = {f"{name}/{part}" for name in names for part in _PARTS}
    if set(tensors) != expected:
        raise JobFailed(f"{folder / OPTIMIZER} is not of this model")
    state = {
        index: {part: tensors[f"{name}/{part}"] for part in _PARTS}
        for index, name in enumerate(names)
    }
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )


def load_generators(folder: Path, state: TrainingState) -> None:
    """Set Python's, numpy's and torch's generators to where the checkpoint left them."""
    import numpy as np
    import torch
    from safetensors.torch import load_file

    tensors = load_file(folder / GENERATORS)
    torch.set_rng_state(tensors["torch"])
    words = tensors["numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", words, state.numpy_position, 0, 0.0))
    random.setstate((3, tuple(state.python_generator), None))


_PARTS = ("step", "exp_avg", "exp_avg_sq")
