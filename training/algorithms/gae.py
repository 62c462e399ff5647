"""Generalised advantage estimation, arXiv 1506.02438, equations 11 to 16, over sampled tokens.

A row holds tokens that the policy sampled and tokens that it was given. Only the sampled ones are
its actions, so the recursion goes from one sampled token t to the next one t⁺ of the row, and
jumps what lies between:

    δ_t = r_t + γ·V(t⁺) − V(t)        A_t = δ_t + γλ·A(t⁺)        return_t = A_t + V(t)

Behind a row's last sampled token both V and A are 0: every episode is taken as over there, also
one that ran out of turns or of context, because these limits belong to the task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class Advantages(NamedTuple):
    """What each action was worth.

    Attributes:
        advantages: [E, T], 0 where the policy did not act.
        returns: [E, T] what its value should have been, 0 where it did not act.
    """

    advantages: Tensor
    returns: Tensor


def estimate(
    rewards: Tensor, values: Tensor, actions: Tensor, *, gamma: float, lambda_: float
) -> Advantages:
    """Advantages and returns of E rows; what stands at places without an action is not looked at.

    Args:
        rewards: [E, T] reward of each action.
        values: [E, T] value of the state that each action was taken in.
        actions: [E, T] bool: which tokens were sampled.
        gamma: discount an action.
        lambda_: λ: 1 takes the rewards as they came, 0 trusts the next value.
    """
    import torch

    advantages = torch.zeros_like(values)
    ahead = values.new_zeros(values.shape[0])
    value_ahead = values.new_zeros(values.shape[0])
    for place in reversed(range(values.shape[1])):
        acted = actions[:, place]
        delta = rewards[:, place] + gamma * value_ahead - values[:, place]
        ahead = torch.where(acted, delta + gamma * lambda_ * ahead, ahead)
        value_ahead = torch.where(acted, values[:, place], value_ahead)
        advantages[:, place] = torch.where(acted, ahead, 0.0)
    returns = torch.where(actions, advantages + values, 0.0)
    return Advantages(advantages, returns)


def whiten(values: Tensor, mask: Tensor) -> Tensor:
    """Mean 0 and deviation 1 over all places of the mask, 0 elsewhere.

    The variance is the unbiased one. Where all values are alike the result is 0, not noise over
    a small number; one value alone has no deviation and becomes 0 as well.

    Args:
        values: any shape.
        mask: bool, of the same shape.
    """
    import torch

    chosen = values[mask]
    if chosen.numel() < 2:  # noqa: PLR2004 - a deviation needs two
        return torch.zeros_like(values)
    centred = chosen - chosen.mean()
    deviation = chosen.std()
    result = torch.zeros_like(values)
    result[mask] = centred / deviation if float(deviation) > _ALIKE else torch.zeros_like(centred)
    return result


_ALIKE = 1e-8
