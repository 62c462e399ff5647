"""An optimiser step around a gradient: the rate before it, the safeguards after it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from contracts.errors import JobFailed

if TYPE_CHECKING:
    from torch.nn import Parameter
    from torch.optim import Optimizer

LOSS_MAX = 1_000.0
"""Nats a pair or token, and unit of the terms' weights; learning begins far below."""


def make_optimizer(
    parameters: Iterable[Parameter], *, betas: tuple[float, float] = (0.9, 0.999)
) -> Optimizer:
    """AdamW without weight decay, which would pull a policy away from where it started.

    Args:
        parameters: what is learnt.
        betas: decay of the gradient's two moments.
    """
    from torch.optim import AdamW

    return AdamW(parameters, lr=0.0, betas=betas, weight_decay=0.0)


def begin_step(optimizer: Optimizer, rate: float) -> None:
    """Set the rate, and let every gradient be 0, also that of a weight that no token will reach.

    Without one an optimiser skips a weight: its moments would not be there to be saved, and a
    learner that reached it would go elsewhere than those that did not.
    """
    import torch

    for group in optimizer.param_groups:
        group["lr"] = rate
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)


def end_step(
    optimizer: Optimizer, *, step: int, loss: float, clip: float, limit: float = LOSS_MAX
) -> float:
    """Clip the gradient and follow it, if it is sound.

    Args:
        optimizer: after `begin_step` and the backward passes.
        step: counted from 1.
        loss: that the gradient is of.
        clip: largest norm of the gradient.
        limit: largest loss that can be sound.

    Returns:
        The gradient's norm before it was clipped.

    Raises:
        JobFailed: the loss or the gradient is not finite, or the loss is absurd.
    """
    from torch.nn.utils import clip_grad_norm_

    (group,) = optimizer.param_groups
    norm = float(clip_grad_norm_(group["params"], clip))
    refuse_unsound(step, loss, norm, rate=group["lr"], limit=limit)
    optimizer.step()
    return norm


def refuse_unsound(
    step: int, loss: float, gradient_norm: float, *, rate: float, limit: float = LOSS_MAX
) -> None:
    """End a training that has left the ground, before its weights are touched or saved.

    Args:
        step: counted from 1.
        loss: in nats.
        gradient_norm: before clipping.
        rate: the step's learning rate.
        limit: largest loss that can be sound.

    Raises:
        JobFailed: loss or gradient are not finite, or the loss is over its limit.
    """
    if math.isfinite(loss) and math.isfinite(gradient_norm) and loss <= limit:
        return
    raise JobFailed(
        f"the loss is {loss:g} and the gradient's norm {gradient_norm:g} at step {step}; nothing "
        f"of this step was kept. Lower learning_rate (it was {rate:g}) or gradient_clip, or "
        "raise warmup_steps"
    )
