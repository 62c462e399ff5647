"""What learners of a party work out, each from its share, adds up to what one works out alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import pytest
import torch
from tiny_policy import PAD, random_model, random_pairs
from torch import Tensor
from torch.nn import Parameter

from contracts.steps import Dpo, Kto, Sft
from training.algorithms.descent import make_optimizer
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.dpo_learner import DpoLearner
from training.algorithms.kto_learner import Examples, Figures, KtoLearner
from training.algorithms.logprobs import score, score_rows
from training.algorithms.party import Party
from training.algorithms.sft_learner import SftLearner
from training.episodes.encoding import Row
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


@dataclass(frozen=True)
class Hearing(Alone):
    """The same, but that the first sum it asks for may be told to it, as if all were there."""

    told: float | None = None
    said: list[float] = field(default_factory=list)

    def sums(self, figures: Sequence[float], device: str) -> list[float]:
        self.said.append(figures[0])
        if len(self.said) == 1 and self.told is not None:
            return [self.told]
        return super().sums(figures, device)


def examples() -> Examples:
    pairs = random_pairs(10)
    rows = [pair.branch(pair.chosen) for pair in pairs]
    others = [*pairs[1:], pairs[0]]
    mismatched = [one.branch(other.chosen) for one, other in zip(pairs, others, strict=True)]
    good = torch.tensor([number % 3 > 0 for number in range(10)])
    ours, theirs = (_last_sums(some) for some in (rows, mismatched))
    # The reference finds mismatched answers less likely, so that the baseline is above 0.
    return Examples(rows, mismatched, good, ours, theirs - 5)


def _last_sums(rows: Sequence[Row]) -> Tensor:
    return list(score_rows(random_model(seed=1), rows, pad=PAD))[-1].sums


def kto_step(model: CausalModel, party: Party) -> Figures:
    recipe = Kto(
        algorithm="kto",
        learning_rate=1e-9,
        gradient_clip=1e9,
        beta=0.5,
        desirable_weight=1.5,
        undesirable_weight=0.5,
    )
    learner = KtoLearner(model, make_optimizer(model.parameters()), recipe, PAD, party=party)
    return learner.step(0, examples())


@cache
def baseline_sum(size: int) -> float:
    """What the shares of the baseline add up to."""
    learners = [Hearing(rank, size) for rank in range(size)]
    for one in learners:
        kto_step(random_model(), one)
    return sum(one.said[0] for one in learners)


def kto_figures(model: CausalModel, party: Party) -> Figures:
    if party.size == 1:
        return kto_step(model, party)
    return kto_step(model, Hearing(party.rank, party.size, baseline_sum(party.size)))


def by_kto(model: CausalModel, party: Party) -> float:
    return kto_figures(model, party).loss


def learnt(by: Learn, party: Party) -> tuple[float, Tensor]:
    model = random_model()
    loss = by(model, party)
    gradients = [
        torch.zeros_like(weight) if weight.grad is None else weight.grad
        for weight in model.parameters()
    ]
    return loss, torch.cat([gradient.flatten() for gradient in gradients])


@pytest.mark.parametrize("size", [2, 3, 12])
@pytest.mark.parametrize("by", [by_dpo, by_sft, by_kto])
def test_losses_and_gradients_of_all_shares_add_up_to_the_whole(by: Learn, size: int) -> None:
    loss, gradient = learnt(by, Party())
    parts = [learnt(by, Alone(rank, size)) for rank in range(size)]
    assert float(gradient.norm()) > 1e-3
    assert sum(part for part, _ in parts) == pytest.approx(loss, rel=1e-5)
    added = torch.stack([part for _, part in parts]).sum(0)
    torch.testing.assert_close(added, gradient, rtol=1e-3, atol=1e-5 * float(gradient.norm()))


@pytest.mark.parametrize("size", [2, 3, 12])
def test_each_learner_of_kto_sees_the_baseline_of_the_whole_batch(size: int) -> None:
    whole = kto_figures(random_model(), Party())
    parts = [kto_figures(random_model(), Alone(rank, size)) for rank in range(size)]
    assert whole.kl > 0
    assert [part.kl for part in parts] == pytest.approx([whole.kl] * size, rel=1e-5)
    for name in ("good_ratio", "bad_ratio"):
        added = sum(getattr(part, name) for part in parts)
        assert added == pytest.approx(getattr(whole, name), rel=1e-4)
