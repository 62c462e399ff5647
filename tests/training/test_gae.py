"""Advantages against values computed elsewhere, against closed forms, and over masked tokens."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from training.algorithms.gae import estimate, whiten

REWARDS = [[0, 0, 0, 0.5, 0, 1]]
VALUES = [[0.2, 0.4, 9, -7, 0.1, 0.3]]
MASK = [[1, 1, 0, 0, 1, 1]]


def golden(values: list[list[float]], mask: list[list[int]]) -> tuple[Tensor, Tensor, Tensor]:
    actions = torch.tensor(mask, dtype=torch.bool)
    made = estimate(torch.tensor(REWARDS), torch.tensor(values), actions, gamma=0.9, lambda_=0.8)
    return made.advantages, made.returns, actions


def test_advantages_jump_tokens_that_were_given_as_other_implementations_do() -> None:
    advantages, returns, actions = golden(VALUES, MASK)
    assert advantages[actions].tolist() == pytest.approx([0.286202, 0.175280, 0.674, 0.7], abs=1e-6)
    assert returns[actions].tolist() == pytest.approx([0.486202, 0.575280, 0.774, 1.0], abs=1e-6)
    assert whiten(advantages, actions)[actions].tolist() == pytest.approx(
        [-0.645501, -1.060167, 0.804235, 0.901433], abs=1e-6
    )
    assert (advantages[~actions] == 0).all()
    assert (returns[~actions] == 0).all()


def test_without_given_tokens_every_token_is_a_step() -> None:
    advantages, _, _ = golden(VALUES, [[1] * 6])
    assert advantages[0, :2].tolist() == pytest.approx([0.786562, 0.870225], abs=1e-6)


def test_the_returns_are_those_of_a_known_case_by_hand() -> None:
    same = torch.tensor([[0.0, 0.0, 0.0, 1.0]])
    made = estimate(same, same, torch.ones(1, 4, dtype=torch.bool), gamma=0.9, lambda_=0.95)
    assert made.returns[0].tolist() == pytest.approx([0.657923, 0.7695, 0.9, 1], abs=1e-6)


def test_what_stands_at_given_tokens_is_never_looked_at() -> None:
    broken = [[0.2, 0.4, math.nan, math.inf, 0.1, 0.3]]
    advantages, returns, _ = golden(broken, MASK)
    sound, sound_returns, _ = golden(VALUES, MASK)
    assert torch.equal(advantages, sound)
    assert torch.equal(returns, sound_returns)


rows = st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=1, max_size=8)


@given(rows, st.floats(0.1, 1))
def test_with_lambda_1_the_return_is_the_discounted_sum_of_what_follows(
    row: list[tuple[float, float]], gamma: float
) -> None:
    rewards, values = (torch.tensor([part], dtype=torch.float64) for part in zip(*row, strict=True))
    actions = torch.ones_like(rewards, dtype=torch.bool)
    made = estimate(rewards, values, actions, gamma=gamma, lambda_=1.0)
    for place in range(len(row)):
        expected = sum(gamma**ahead * r for ahead, (r, _) in enumerate(row[place:]))
        assert float(made.returns[0, place]) == pytest.approx(expected, abs=1e-9)


@given(rows, st.floats(0.1, 1))
def test_with_lambda_0_only_the_next_value_counts(
    row: list[tuple[float, float]], gamma: float
) -> None:
    rewards, values = (torch.tensor([part], dtype=torch.float64) for part in zip(*row, strict=True))
    actions = torch.ones_like(rewards, dtype=torch.bool)
    made = estimate(rewards, values, actions, gamma=gamma, lambda_=0.0)
    following = [value for _, value in row[1:]] + [0.0]
    for place, (reward, _) in enumerate(row):
        expected = reward + gamma * following[place]
        assert float(made.returns[0, place]) == pytest.approx(expected, abs=1e-9)


def test_padding_and_given_tokens_in_between_change_no_advantage() -> None:
    packed = estimate(
        torch.tensor([[0.0, 1.0]]),
        torch.tensor([[0.3, 0.6]]),
        torch.ones(1, 2, dtype=torch.bool),
        gamma=0.9,
        lambda_=0.8,
    )
    spread = estimate(
        torch.tensor([[7.0, 0.0, 7.0, 1.0, 7.0]]),
        torch.tensor([[5.0, 0.3, 5.0, 0.6, 5.0]]),
        torch.tensor([[False, True, False, True, False]]),
        gamma=0.9,
        lambda_=0.8,
    )
    assert spread.advantages[0, [1, 3]].tolist() == packed.advantages[0].tolist()


def test_whitening_takes_the_masked_tokens_only() -> None:
    values = torch.tensor([1.0, 2.0, 3.0, 100.0])
    mask = torch.tensor([True, True, True, False])
    assert whiten(values, mask).tolist() == [-1, 0, 1, 0]
    values[3] = math.nan
    assert whiten(values, mask).tolist() == [-1, 0, 1, 0]


@pytest.mark.parametrize("values", [[0.1] * 7, [3.0], []])
def test_values_that_are_all_alike_become_exactly_0(values: list[float]) -> None:
    whitened = whiten(torch.tensor(values), torch.ones(len(values), dtype=torch.bool))
    assert whitened.tolist() == [0.0] * len(values)
