"""Weights that no token reaches, such as an expert's or a second head's: left as they are."""

from pathlib import Path

import torch
from tiny_policy import PAD, random_model, random_pairs
from torch.nn import Parameter

from contracts.steps import Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.sft_learner import SftLearner
from training.algorithms.state import load_optimizer, save_optimizer


def test_a_weight_that_no_token_reaches_stays_and_is_kept_with_the_others(tmp_path: Path) -> None:
    model = random_model()
    torch.nn.Module.register_parameter(model, "unreached", Parameter(torch.ones(3)))  # type: ignore[arg-type]
    weights = dict(model.named_parameters())
    optimizer = make_optimizer(weights.values())
    learner = SftLearner(model, optimizer, Sft(algorithm="sft", warmup_steps=1), PAD)
    rows = [pair.branch(pair.chosen) for pair in random_pairs(4)]
    before = {name: weight.detach().clone() for name, weight in weights.items()}
    for number in range(2):
        learner.step(number, rows)
    moved = {name for name, weight in weights.items() if not torch.equal(weight, before[name])}
    assert moved == weights.keys() - {"unreached"}
    save_optimizer(tmp_path, weights, optimizer)
    again = make_optimizer(weights.values())
    load_optimizer(tmp_path, weights, again)
    for weight in weights.values():
        for part in ("exp_avg", "exp_avg_sq"):
            assert torch.equal(again.state[weight][part], optimizer.state[weight][part])
