"""A critic on the policy's own trunk: one linear layer over the states that its head sees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import JobFailed
from training.models.protocols import CausalModel

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Linear

FILE = "value_head.safetensors"


def make_value_head(model: CausalModel, *, device: str = "cpu") -> Linear:
    """A head that says 0 for every state, so that it begins by changing nothing.

    Args:
        model: whose hidden width it takes.
        device: where it shall be.
    """
    import torch
    from torch.nn import Linear, Parameter

    width = model.get_output_embeddings().weight.shape[1]
    # Made without memory first: making it for real would draw from torch's generator.
    head = Linear(width, 1, device="meta")
    head.weight = Parameter(torch.zeros(1, width, device=device))
    head.bias = Parameter(torch.zeros(1, device=device))
    return head


def values_of(head: Linear, hidden: Tensor) -> Tensor:
    """[N] value of each state.

    Args:
        head: as `make_value_head` makes it.
        hidden: [N, H] states.
    """
    values: Tensor = head(hidden.float())
    return values.squeeze(-1)


def save_value_head(folder: Path, head: Linear) -> None:
    """Write it into an existing folder."""
    from safetensors.torch import save_file

    save_file({name: part.contiguous() for name, part in head.state_dict().items()}, folder / FILE)


def load_value_head(folder: Path, head: Linear) -> None:
    """Give a head the weights that `save_value_head` wrote.

    Raises:
        JobFailed: they are not there, or of another width.
    """
    from safetensors.torch import load_file

    try:
        head.load_state_dict(load_file(folder / FILE))
    except (OSError, RuntimeError) as error:
        raise JobFailed(f"{folder / FILE} is not of this model: {error}") from error
