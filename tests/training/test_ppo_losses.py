"""The losses of PPO against values computed elsewhere, closed forms and derivatives."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from training.algorithms.ppo import (
    entropies,
    explained_variance,
    is_clipped,
    kl_k1,
    kl_k3,
    policy_losses,
    ratios,
    value_losses,
)
from training.algorithms.schedule import iteration_rate

LOGPROBS = torch.tensor([-1, -0.5, -2, -0.7, -3])
OLD = torch.tensor([-1.2, -0.5, -1, -1.5, -1])
ADVANTAGES = torch.tensor([1.0, 1, -1, 1, -2])


def test_ratios_and_losses_have_the_values_that_other_implementations_give() -> None:
    ratio = ratios(LOGPROBS, OLD)
    assert ratio.tolist() == pytest.approx([1.221403, 1, 0.367879, 2.225541, 0.135335], abs=1e-6)
    losses = policy_losses(ratio, ADVANTAGES, clip=0.2)
    assert losses.tolist() == pytest.approx([-1.2, -1, 0.8, -1.2, 1.6], abs=1e-6)
    assert float(losses.mean()) == pytest.approx(-0.2, abs=1e-6)


def test_the_clip_holds_exactly_the_tokens_that_give_no_gradient() -> None:
    logprobs = LOGPROBS.clone().requires_grad_()
    ratio = ratios(logprobs, OLD)
    policy_losses(ratio, ADVANTAGES, clip=0.2).sum().backward()
    held = is_clipped(ratio, ADVANTAGES, clip=0.2)
    assert held.tolist() == [True, False, True, True, True]
    assert (logprobs.grad == 0).tolist() == held.tolist()


def test_at_the_start_of_an_update_the_gradient_is_that_of_the_plain_policy_gradient() -> None:
    logprobs = OLD.clone().requires_grad_()
    policy_losses(ratios(logprobs, OLD), ADVANTAGES, clip=0.2).sum().backward()
    assert logprobs.grad.tolist() == (-ADVANTAGES).tolist()


@given(st.floats(-1e4, 0), st.floats(-1e4, 0), st.floats(-10, 10))
def test_the_loss_is_finite_however_far_the_policy_has_gone(
    logprob: float, old: float, advantage: float
) -> None:
    ratio = ratios(torch.tensor([logprob]), torch.tensor([old]))
    loss = policy_losses(ratio, torch.tensor([advantage]), clip=0.2)
    assert math.isfinite(float(loss))
    assert float(loss) >= -1.2 * abs(advantage) - 1e-5


def test_the_clipped_value_loss_has_the_value_that_other_implementations_give() -> None:
    values, old, returns = (
        torch.tensor(row) for row in ([1, 0.1, 0.5], [0.5, 0, 0.9], [0.9, 1, 0])
    )
    clipped = value_losses(values, old, returns, clip=0.2)
    assert float(clipped.mean()) == pytest.approx(0.223333, abs=1e-6)
    plain = value_losses(values, old, returns, clip=None)
    assert plain.tolist() == pytest.approx([0.005, 0.405, 0.125])
    assert float((clipped > plain).float().mean()) == pytest.approx(0.666667, abs=1e-6)


def test_the_kl_estimators_have_the_values_that_other_implementations_give() -> None:
    here, there = torch.tensor([-1.0]), torch.tensor([-1.5])
    assert float(kl_k1(here, there)) == pytest.approx(0.5)
    assert float(kl_k3(here, there)) == pytest.approx(0.106531, abs=1e-6)


def test_both_kl_estimators_have_the_exact_kl_as_their_mean() -> None:
    p = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    q = torch.tensor([0.2, 0.2, 0.6], dtype=torch.float64)
    exact = float((p * (p / q).log()).sum())
    for estimator in (kl_k1, kl_k3):
        assert float((p * estimator(p.log(), q.log())).sum()) == pytest.approx(exact)
    assert (kl_k3(p.log(), q.log()) >= 0).all()


def test_entropy_is_log_v_where_all_is_alike_and_0_where_one_token_is_sure() -> None:
    logits = torch.tensor([[0.0] * 8, [200.0] + [0.0] * 7])
    assert entropies(logits).tolist() == pytest.approx([math.log(8), 0], abs=1e-6)


def test_explained_variance_is_1_for_a_perfect_critic_and_0_for_a_constant_one() -> None:
    returns = torch.tensor([0.0, 1.0, 2.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(torch.full((3,), 5.0), returns) == pytest.approx(0)
    assert explained_variance(-returns, returns) == pytest.approx(-3)
    assert explained_variance(returns, torch.ones(3)) == 0


def test_the_rate_climbs_over_the_warm_up_and_falls_linearly_to_a_fifth() -> None:
    rates = [iteration_rate(at, peak=1.0, warmup=3, iterations=11) for at in range(11)]
    assert rates[:4] == pytest.approx([1 / 3, 2 / 3, 1, 1])
    assert rates[-1] == pytest.approx(0.2)
    falls = [before - after for before, after in pairwise(rates[3:])]
    assert falls == pytest.approx([0.8 / 7] * 7)
    assert iteration_rate(0, peak=1.0, warmup=0, iterations=1) == 1
