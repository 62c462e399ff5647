"""Supervised learning: the likelihood of what an assistant said, a mean over all its tokens.

The loss of a batch of S conversations is

    −(1/N) · Σ_i Σ_t log π(token t of conversation i | all before it)

over the N tokens that assistants said in the whole batch, their end tokens included, and over no
others. It is the maximum-likelihood objective of arXiv 2203.02155, section 3.5, step 1. N counts
the batch, not a part of it: a mean of parts' means would weigh the tokens of a short part more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def share_of_loss(logprobs: Tensor, *, tokens: int) -> Tensor:
    """What some of a batch's tokens add to its loss, in nats a token.

    Args:
        logprobs: [n] of some of the tokens that are learnt.
        tokens: N, of the whole batch.
    """
    return -logprobs.sum() / max(1, tokens)
