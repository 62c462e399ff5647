"""Drawing tokens: one uniform number a token, which belongs to the episode, not to the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


def generator_of(seed: int, stream: int) -> np.random.Generator:
    """An episode's own generator: Philox, a counter-based one, keyed by both numbers.

    Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011).

    Args:
        seed: the episode's, below 2^64.
        stream: tells apart several samplings of the same episode, below 2^64.
    """
    import numpy as np

    return np.random.Generator(np.random.Philox(key=(stream << 64) | seed))


def draw(logits: Tensor, temperature: float, chances: Tensor) -> tuple[Tensor, Tensor]:
    """Sample from the whole vocabulary by inverting the cumulative distribution.

    Args:
        logits: [b, V].
        temperature: divides the logits; 0 takes the likeliest token.
        chances: [b] float64 numbers of [0, 1).

    Returns:
        The tokens [b] and their log-probabilities [b] in nats, under the distribution sampled
        from; with temperature 0 under that of temperature 1.
    """
    import torch

    scaled = logits if temperature in {0, 1} else logits / temperature
    logprobs = torch.log_softmax(scaled, dim=-1)
    if temperature == 0:
        tokens = logprobs.argmax(dim=-1, keepdim=True)
    else:
        sums = logprobs.exp().cumsum(dim=-1, dtype=torch.float64)
        tokens = torch.searchsorted(sums, chances[:, None] * sums[:, -1:], right=True)
        tokens = tokens.clamp_(max=logits.shape[-1] - 1)
    return tokens[:, 0], logprobs.gather(1, tokens)[:, 0]
