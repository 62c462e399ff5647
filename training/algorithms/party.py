"""Those who learn together: each takes its share of a batch, and all follow the same gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch.nn import Parameter

T = TypeVar("T")


@dataclass(frozen=True)
class Party:
    """Learners that hold the same weights; one alone unless torch's process group is set up.

    Which items a step learns from is decided before they are shared out, so any number of
    learners goes through the data in the same order. What is summed is the same but for rounding.

    Attributes:
        rank: which of them this process is, from 0.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    def share(self, items: Sequence[T]) -> list[T]:
        """This learner's part of a batch; the parts of all are the batch, each item once."""
        return list(items[self.rank :: self.size])

    def sum_gradients(self, parameters: Iterable[Parameter]) -> None:
        """Replace each gradient by the sum of all learners'; there is one of every weight."""
        if self.size == 1:
            return
        import torch
        from torch.distributed import all_reduce

        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        all_reduce(flat)
        at = 0
        for gradient in gradients:
            gradient.copy_(flat[at : at + gradient.numel()].view_as(gradient))
            at += gradient.numel()

    def sums(self, figures: Sequence[float], device: str) -> list[float]:
        """Add up each figure over all learners."""
        if self.size == 1:
            return list(figures)
        import torch
        from torch.distributed import all_reduce

        values = torch.tensor(figures, dtype=torch.float64, device=device)
        all_reduce(values)
        return [float(value) for value in values]

    def from_first(self, do: Callable[[], T]) -> T:
        """Let the first learner do it while the others wait, and give all what it came to."""
        if self.size == 1:
            return do()
        from torch.distributed import broadcast_object_list

        told: list[Any] = [do() if self.rank == 0 else None]
        broadcast_object_list(told, src=0)
        heard: T = told[0]
        return heard


ALONE = Party()
