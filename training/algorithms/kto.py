"""Kahneman-Tversky optimisation, arXiv 2402.01306, equations 7 and 8.

With r = log π(y|x) − log π_ref(y|x), summed over an answer's tokens, an answer's loss is

    λ_y − v    where    v = λ_D · σ(β·(r − z₀)) of a good answer,
                        v = λ_U · σ(β·(z₀ − r)) of a bad one,

and λ_y is the weight λ_D or λ_U that goes with its label. The point of reference z₀ is
KL(π‖π_ref), estimated as the paper does in section 4.1: each prompt of the batch is joined with an
answer to another prompt, the log-ratios of these mismatched answers are averaged over the batch,
and what is below 0 counts as 0. No gradient goes through it.

The paper takes the batch's next answer for each prompt. Here a prompt keeps the answer to
another prompt that it was given at the start, the same for the whole training, so that the
reference policy has to score it once only; the mean is over the batch's prompts all the same.

Where policy and reference are equal, r and z₀ are 0 and each loss is half its weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def kl_baseline(mismatched: Tensor) -> Tensor:
    """[] z₀ in nats, never below 0, without a gradient.

    Args:
        mismatched: [M] log-ratios of answers to other prompts, in nats; at least one.
    """
    return mismatched.detach().mean().clamp(min=0)


def kto_losses(
    ratios: Tensor,
    baseline: Tensor,
    good: Tensor,
    *,
    beta: float,
    desirable_weight: float = 1.0,
    undesirable_weight: float = 1.0,
) -> Tensor:
    """[P] losses of answers, each within 0 and its weight.

    Args:
        ratios: [P] r, in nats.
        baseline: [] z₀, in nats.
        good: [P] bool.
        beta: how strongly r counts, over 0.
        desirable_weight: λ_D.
        undesirable_weight: λ_U.
    """
    import torch

    gain = torch.where(good, ratios - baseline, baseline - ratios)
    weights = torch.where(
        good, gain.new_tensor(desirable_weight), gain.new_tensor(undesirable_weight)
    )
    return weights * (1 - (beta * gain).sigmoid())
