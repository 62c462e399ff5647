"""A random model over forty tokens, and random pairs of them."""

import random

import torch

from contracts.pipeline import TinyModel
from training.episodes.encoding import Answer, EncodedPair
from training.models.protocols import CausalModel
from training.models.tiny import make_tiny

TOKENS = 40
PAD = 0


class _FortyTokens:
    eos_token_id = 1
    pad_token_id = PAD

    def __len__(self) -> int:
        return TOKENS


def random_model(seed: int = 0) -> CausalModel:
    """A model of two layers."""
    torch.manual_seed(seed)
    model = make_tiny(TinyModel(hidden_size=16, layers=2, heads=2, context=64), _FortyTokens())
    return model.eval()


def random_pairs(count: int, seed: int = 0) -> list[EncodedPair]:
    """Pairs of all lengths; some answers hold tokens that are given, not sampled."""
    draw = random.Random(seed)

    def ids(most: int) -> tuple[int, ...]:
        return tuple(draw.randrange(2, TOKENS) for _ in range(draw.randint(1, most)))

    def answer() -> Answer:
        made = ids(12)
        return Answer(made, (1, *(draw.choice((0, 1, 1)) for _ in made[1:])))

    return [EncodedPair(ids(20), answer(), answer()) for _ in range(count)]
