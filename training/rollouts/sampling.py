"""Drawing tokens: one uniform number a token, which belongs to the episode, not to the batch."""

from __future__ import annotations

from collections.abc import Sequence
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


def draw(
    logits: Tensor, temperature: float, uniforms: Sequence[float]
) -> tuple[list[int], list[float]]:
    """Sample from the whole vocabulary by inverting the cumulative distribution.

    Args:
        logits: [b, V].
        temperature: divides the logits; 0 takes the likeliest token.
        uniforms: b numbers of [0, 1).

    Returns:
        The tokens and their log-probabilities in nats, under the distribution sampled from;
        with temperature 0 under that of temperature 1.
    """
    import torch

    logprobs = torch.log_softmax(logits / (temperature or 1.0), dim=-1)
    if temperature == 0:
        tokens = logprobs.argmax(dim=-1, keepdim=True)
    else:
        sums = logprobs.exp().cumsum(dim=-1, dtype=torch.float64)
        drawn = torch.tensor(uniforms, dtype=torch.float64, device=logits.device)[:, None]
        tokens = torch.searchsorted(sums, drawn * sums[:, -1:], right=True)
        tokens = tokens.clamp(max=logits.shape[-1] - 1)
    return tokens[:, 0].tolist(), logprobs.gather(1, tokens)[:, 0].tolist()
