"""One seed for every generator that a job draws from."""

from __future__ import annotations

import random


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch (all devices).

    Args:
        seed: within 0 … 2³¹−1.
    """
    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
