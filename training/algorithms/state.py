"""A training's state as files: safetensors and JSON, nothing that has to be unpickled."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from contracts.errors import JobFailed
from contracts.model import Stored
from contracts.names import Digest
from training.models.folders import save_policy
from training.models.protocols import CausalModel, Tokenizer

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

OPTIMIZER = "optimizer.safetensors"
GENERATORS = "generators.safetensors"
TRAINING = "training.json"


class TrainingState(Stored):
    """`training.json`: where a training stands. The order of data follows from seed and step."""

    step: int = Field(ge=0, description="Optimiser steps done.")
    seed: int
    fingerprint: Digest = Field(description="Of all that the weights depend on, the step apart.")
    python_generator: list[int] = Field(description="Mersenne Twister words, position last.")
    numpy_position: int
    metrics: dict[str, float] = Field({})

    @classmethod
    def read(cls, folder: Path) -> TrainingState:
        """Read it from a checkpoint.

        Raises:
            ContractBroken: it is not of this form.
            OSError: it cannot be read.
        """
        path = folder / TRAINING
        return cls.from_bytes(path.read_bytes(), where=str(path))


def save_training(
    folder: Path,
    *,
    model: CausalModel,
    tokenizer: Tokenizer,
    optimizer: Optimizer,
    step: int,
    seed: int,
    fingerprint: str,
    metrics: dict[str, float],
) -> None:
    """Write policy, optimiser, generators and place into an existing folder.

    Raises:
        JobFailed: a weight is not finite; such a checkpoint is never written.
    """
    import numpy as np
    import torch
    from safetensors.torch import save_file

    refuse_unfinite(model, step)
    save_policy(folder, model, tokenizer)
    save_file(_optimizer_tensors(model, optimizer), folder / OPTIMIZER)
    _, words, position, _, _ = np.random.get_state()
    generators = {
        "torch": torch.get_rng_state(),
        "numpy": torch.from_numpy(np.asarray(words).astype("int64")),
    }
    save_file(generators, folder / GENERATORS)
    state = TrainingState(
        step=step,
        seed=seed,
        fingerprint=fingerprint,
        python_generator=list(random.getstate()[1]),
        numpy_position=int(position),
        metrics=metrics,
    )
    (folder / TRAINING).write_bytes(state.to_bytes())


def refuse_unfinite(model: CausalModel, step: int) -> None:
    """Make sure that every weight is a number.

    Raises:
        JobFailed: names the first that is not.
    """
    import torch

    for name, weight in model.named_parameters():
        if not bool(torch.isfinite(weight).all()):
            raise JobFailed(
                f"{name} holds NaN or infinity after step {step}; nothing was saved. "
                "Lower learning_rate, or look for broken text in the data"
            )


def load_optimizer(folder: Path, model: CausalModel, optimizer: Optimizer) -> None:
    """Give a fresh optimiser the moments of a verified checkpoint.

    Raises:
        JobFailed: the file does not hold the moments of this model's parameters.
    """
    from safetensors.torch import load_file

    tensors = load_file(folder / OPTIMIZER)
    names = [name for name, _ in model.named_parameters()]
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


def _optimizer_tensors(model: CausalModel, optimizer: Optimizer) -> dict[str, Tensor]:
    tensors = {}
    for name, parameter in model.named_parameters():
        for part in _PARTS:
            tensors[f"{name}/{part}"] = optimizer.state[parameter][part].detach().contiguous()
    return tensors
