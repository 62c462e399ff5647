"""The loss against values computed elsewhere, and what it must not depend on."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import JobFailed
from training.algorithms.descent import refuse_unsound
from training.algorithms.dpo import AnswerLogProbs, dpo_losses, preference_gap
from training.algorithms.schedule import learning_rate


@pytest.mark.parametrize(
    ("gap", "smoothing", "expected"),
    [
        (0.0, 0.0, 0.693147),
        (2.0, 0.0, 0.598139),
        (-3.0, 0.0, 0.854355),
        (0.0, 0.1, 0.693147),
        (2.0, 0.1, 0.618139),
        (-3.0, 0.1, 0.824355),
    ],
)
def test_the_loss_has_the_values_that_other_implementations_give(
    gap: float, smoothing: float, expected: float
) -> None:
    loss = dpo_losses(torch.tensor([gap]), beta=0.1, label_smoothing=smoothing)
    assert float(loss) == pytest.approx(expected, abs=1e-6)


def test_a_policy_that_is_its_reference_loses_log_2_exactly_whatever_the_rest() -> None:
    policy = AnswerLogProbs(torch.tensor([-3.25, -7.0]), torch.tensor([-1.5, -9.0]))
    gap = preference_gap(policy, policy)
    assert gap.tolist() == [0.0, 0.0]
    losses = dpo_losses(gap, beta=0.3, label_smoothing=0.2)
    assert losses.tolist() == pytest.approx([float(torch.tensor(math.log(2)))] * 2, abs=0)


def test_the_gradient_raises_the_chosen_answer_and_lowers_the_rejected_one_alike() -> None:
    chosen = torch.tensor([-4.0], requires_grad=True)
    rejected = torch.tensor([-4.0], requires_grad=True)
    reference = AnswerLogProbs(torch.tensor([-4.0]), torch.tensor([-4.0]))
    dpo_losses(
        preference_gap(AnswerLogProbs(chosen, rejected), reference), beta=0.1
    ).sum().backward()
    assert float(chosen.grad) == pytest.approx(-0.05)
    assert float(rejected.grad) == pytest.approx(0.05)


@given(st.floats(-1e4, 1e4), st.floats(0.001, 10), st.floats(0, 0.49))
def test_the_loss_is_finite_and_positive_however_far_the_policy_has_gone(
    gap: float, beta: float, smoothing: float
) -> None:
    loss = dpo_losses(torch.tensor([gap]), beta=beta, label_smoothing=smoothing)
    assert math.isfinite(float(loss))
    assert float(loss) >= 0


@pytest.mark.parametrize(
    ("loss", "norm"), [(math.nan, 1.0), (math.inf, 1.0), (0.7, math.nan), (1001.0, 1.0)]
)
def test_a_loss_that_left_the_ground_names_the_step_and_what_to_lower(
    loss: float, norm: float
) -> None:
    with pytest.raises(JobFailed, match=r"at step 7; .*Lower learning_rate \(it was 0.5\)"):
        refuse_unsound(7, loss, norm, rate=0.5)


def test_the_rate_climbs_to_its_peak_and_comes_down_to_a_tenth() -> None:
    rates = [learning_rate(step, peak=1.0, warmup=4, steps=20) for step in range(20)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0
    assert rates[-1] == pytest.approx(0.1)
    assert rates[4:] == sorted(rates[4:], reverse=True)


def test_one_step_and_a_warm_up_longer_than_the_training_still_have_a_rate() -> None:
    assert learning_rate(0, peak=1.0, warmup=0, steps=1) == 1.0
    assert learning_rate(2, peak=1.0, warmup=10, steps=3) == pytest.approx(0.3)
