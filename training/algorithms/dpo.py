"""Direct preference optimisation, arXiv 2305.18290, equation 7, with label smoothing.

With Δ = (log π(chosen) − log π_ref(chosen)) − (log π(rejected) − log π_ref(rejected)), each
log-probability summed over an answer's tokens, a pair's loss is

    −(1−ε) · log σ(β·Δ) − ε · log σ(−β·Δ)

where ε is the chance that the pair's label is wrong (conservative DPO; ε = 0 is the paper's).
To it, a weight w may add w · (−Σ log π(chosen token) / number of chosen tokens), the likelihood
of the preferred answers (the NLL term of arXiv 2404.19733), which keeps them from becoming less
likely together with the rejected ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class AnswerLogProbs(NamedTuple):
    """Log-probabilities of P pairs' answers, in nats.

    Attributes:
        chosen: [P] sums over the tokens of the chosen answers.
        rejected: [P] sums over the tokens of the rejected answers.
    """

    chosen: Tensor
    rejected: Tensor


def preference_gap(policy: AnswerLogProbs, reference: AnswerLogProbs) -> Tensor:
    """[P] Δ: how much more than the reference the policy prefers the chosen answers, in nats."""
    return (policy.chosen - reference.chosen) - (policy.rejected - reference.rejected)


def dpo_losses(gap: Tensor, *, beta: float, label_smoothing: float = 0.0) -> Tensor:
    """Losses of pairs; log 2 where Δ is 0.

    Args:
        gap: [P] Δ.
        beta: how strongly Δ counts, over 0.
        label_smoothing: ε, within 0 … ½.

    Returns:
        [P] losses in nats.
    """
    from torch.nn.functional import logsigmoid

    scaled = beta * gap
    return -(1 - label_smoothing) * logsigmoid(scaled) - label_smoothing * logsigmoid(-scaled)
