"""Proximal policy optimisation over tokens, arXiv 1707.06347.

Equation 7 of the paper, negated to be a loss, for one sampled token with ratio
ρ = π(token) / π_old(token) and advantage A:

    −min(ρ·A, clip(ρ, 1−ε, 1+ε)·A)

The value's loss is ½·(V − R)². With a clip c it is ½·max((V − R)², (clip(V, V_old ± c) − R)²),
which is not in the paper but in the code that came with it. The reward may carry a penalty for
leaving a reference policy, −β·(log π_old − log π_ref) a token (arXiv 1909.08593, equation 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

LOG_RATIO_MAX = 20.0
"""Beyond this a ratio is cut before the exponential, which would overflow."""


def ratios(logprobs: Tensor, old: Tensor) -> Tensor:
    """[N] ρ of each token.

    Args:
        logprobs: [N] of the policy as it is, in nats.
        old: [N] of the policy that the update began from.
    """
    return (logprobs - old).clamp(-LOG_RATIO_MAX, LOG_RATIO_MAX).exp()


def policy_losses(ratio: Tensor, advantages: Tensor, *, clip: float) -> Tensor:
    """[N] clipped losses of tokens.

    Args:
        ratio: [N] ρ.
        advantages: [N] A.
        clip: ε.
    """
    import torch

    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def is_clipped(ratio: Tensor, advantages: Tensor, *, clip: float) -> Tensor:
    """[N] bool: where the clip holds the ratio, so that the token gives no gradient."""
    return ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))


def value_losses(values: Tensor, old: Tensor, returns: Tensor, *, clip: float | None) -> Tensor:
    """[N] losses of the values.

    Args:
        values: [N] V.
        old: [N] V before the update.
        returns: [N] R.
        clip: c, or None for the plain squared error.
    """
    import torch

    plain = (values - returns).square()
    if clip is None:
        return plain / 2
    held = old + (values - old).clamp(-clip, clip)
    return torch.maximum(plain, (held - returns).square()) / 2


def kl_k1(logprobs: Tensor, other: Tensor) -> Tensor:
    """[N] log π − log π_other of tokens sampled from π: unbiased for KL(π‖other)."""
    return logprobs - other


def kl_k3(logprobs: Tensor, other: Tensor) -> Tensor:
    """[N] π_other/π − 1 + log π − log π_other of tokens sampled from π.

    Unbiased for KL(π‖other) as well, never below 0, and of less variance; the estimator is
    called k3 at http://joschu.net/blog/kl-approx.html.
    """
    difference = (logprobs - other).clamp(-LOG_RATIO_MAX, LOG_RATIO_MAX)
    return (-difference).exp() - 1 + difference


def entropies(logits: Tensor) -> Tensor:
    """[N] entropy of the next token's distribution, in nats.

    Args:
        logits: [N, V].
    """
    logprobs = logits.log_softmax(-1)
    return -(logprobs.exp() * logprobs).sum(-1)


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """1 − Var(R − V) / Var(R): 1 for a perfect critic, 0 for a constant one or constant returns.

    Args:
        values: [N] V.
        returns: [N] R.
    """
    spread = float(returns.var(correction=0)) if returns.numel() else 0.0
    if spread <= 0:
        return 0.0
    return 1 - float((returns - values).var(correction=0)) / spread
