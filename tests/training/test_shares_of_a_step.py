"""What learners of a party work out, each from its share, adds up to what one works out alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest
import torch
from tiny_policy import PAD, random_model, random_pairs
from torch import Tensor
from torch.nn import Parameter

from contracts.steps import Dpo, Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.dpo_learner import DpoLearner
from training.algorithms.logprobs import score
from training.algorithms.party import Party
from training.algorithms.sft_learner import SftLearner
from training.models.protocols import CausalModel


class Alone(Party):
    """One of several, of whom the others are not there: what it would add is looked at."""

    def sum_gradients(self, parameters: Iterable[Parameter]) -> None:
        del parameters

    def sums(self, figures: Sequence[float], device: str) -> list[float]:
        del device
        return list(figures)


Learn = Callable[[CausalModel, Party], float]


def by_dpo(model: CausalModel, party: Party) -> float:
    pairs = random_pairs(10)
    reference = AnswerLogProbs(*score(random_model(seed=1), pairs, pad=PAD).sums)
    recipe = Dpo(
        algorithm="dpo", learning_rate=1e-9, chosen_nll_weight=0.5, gradient_clip=1e9, beta=0.5
    )
    learner = DpoLearner(model, make_optimizer(model.parameters()), recipe, PAD, party=party)
    return learner.step(0, pairs, reference).loss


def by_sft(model: CausalModel, party: Party) -> float:
    rows = [pair.branch(pair.chosen) for pair in random_pairs(10)]
    recipe = Sft(algorithm="sft", learning_rate=1e-9, gradient_clip=1e9)
    return SftLearner(model, make_optimizer(model.parameters()), recipe, PAD, party=party).step(
        0, rows
    )


def learnt(by: Learn, party: Party) -> tuple[float, Tensor]:
    model = random_model()
    loss = by(model, party)
    gradients = [
        torch.zeros_like(weight) if weight.grad is None else weight.grad
        for weight in model.parameters()
    ]
    return loss, torch.cat([gradient.flatten() for gradient in gradients])


@pytest.mark.parametrize("size", [2, 3, 12])
@pytest.mark.parametrize("by", [by_dpo, by_sft])
def test_losses_and_gradients_of_all_shares_add_up_to_the_whole(by: Learn, size: int) -> None:
    loss, gradient = learnt(by, Party())
    parts = [learnt(by, Alone(rank, size)) for rank in range(size)]
    assert float(gradient.norm()) > 1e-3
    assert sum(part for part, _ in parts) == pytest.approx(loss, rel=1e-5)
    added = torch.stack([part for _, part in parts]).sum(0)
    torch.testing.assert_close(added, gradient, rtol=1e-3, atol=1e-5 * float(gradient.norm()))
