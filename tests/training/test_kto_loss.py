"""KTO's loss against a second implementation, its closed forms, and what it must not depend on."""

import math
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_policy import PAD, random_model, random_pairs
from torch import Tensor

from contracts.steps import Kto
from training.algorithms.descent import make_optimizer
from training.algorithms.kto import kl_baseline, kto_losses
from training.algorithms.kto_learner import Examples, Figures, KtoLearner
from training.algorithms.logprobs import score_rows
from training.episodes import batching
from training.lessons.labelled import partners


def by_hand(
    policy: list[float],
    reference: list[float],
    other: list[float],
    good: list[bool],
    settings: tuple[float, float, float],
) -> tuple[float, list[float]]:
    """Equations 7 and 8 in numpy, case by case: z₀, and the losses."""
    beta, desirable, undesirable = settings
    baseline = max(0.0, float(np.mean(np.asarray(other))))
    losses = []
    for ours, theirs, wanted in zip(policy, reference, good, strict=True):
        reward = ours - theirs
        if wanted:
            value = desirable / (1 + np.exp(-beta * (reward - baseline)))
            losses.append(float(desirable - value))
        else:
            value = undesirable / (1 + np.exp(-beta * (baseline - reward)))
            losses.append(float(undesirable - value))
    return baseline, losses


def test_the_losses_are_those_of_the_paper() -> None:
    """r = 2 and −3 of good, 1 and −4 of bad ones; z₀ = (3 − 1 + 1) / 3 = 1, β = 0.1."""
    ratios = torch.tensor([2.0, -3.0, 1.0, -4.0])
    good = torch.tensor([True, True, False, False])
    baseline = kl_baseline(torch.tensor([3.0, -1.0, 1.0]))
    assert float(baseline) == 1.0
    found = kto_losses(ratios, baseline, good, beta=0.1, undesirable_weight=2.0)
    assert found.tolist() == pytest.approx([0.475021, 0.598688, 1.0, 0.755081], abs=1e-6)


numbers = st.lists(st.floats(-30, 30), min_size=3, max_size=3)


@given(numbers, numbers, numbers, st.lists(st.booleans(), min_size=3, max_size=3),
       st.tuples(st.floats(0.01, 2), st.floats(0, 4), st.floats(0, 4)))  # fmt: skip
def test_the_losses_are_those_of_a_second_implementation(
    policy: list[float],
    reference: list[float],
    other: list[float],
    good: list[bool],
    settings: tuple[float, float, float],
) -> None:
    baseline, expected = by_hand(policy, reference, other, good, settings)
    found_baseline = kl_baseline(torch.tensor(other, dtype=torch.float64))
    assert float(found_baseline) == pytest.approx(baseline)
    beta, desirable, undesirable = settings
    found = kto_losses(
        torch.tensor(policy, dtype=torch.float64) - torch.tensor(reference, dtype=torch.float64),
        found_baseline,
        torch.tensor(good),
        beta=beta,
        desirable_weight=desirable,
        undesirable_weight=undesirable,
    )
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_a_policy_that_is_its_reference_loses_half_of_each_weight() -> None:
    found = kto_losses(
        torch.zeros(2),
        kl_baseline(torch.zeros(2)),
        torch.tensor([True, False]),
        beta=0.7,
        desirable_weight=3.0,
        undesirable_weight=1.0,
    )
    assert found.tolist() == [1.5, 0.5]


def test_the_baseline_is_never_below_0_and_carries_no_gradient() -> None:
    mismatched = torch.tensor([-5.0, 1.0], requires_grad=True)
    baseline = kl_baseline(mismatched)
    assert float(baseline) == 0.0
    assert not baseline.requires_grad
    above = kl_baseline(torch.tensor([2.0, 4.0], requires_grad=True))
    assert (float(above), above.requires_grad) == (3.0, False)


def test_the_gradient_pushes_good_answers_up_and_bad_ones_down() -> None:
    ratios = torch.zeros(2, requires_grad=True)
    kto_losses(ratios, torch.tensor(0.0), torch.tensor([True, False]), beta=0.4).sum().backward()
    assert ratios.grad is not None
    assert ratios.grad.tolist() == pytest.approx([-0.1, 0.1])


def examples(count: int = 10, reference_seed: int = 1, drift: float = 3.0) -> Examples:
    pairs = random_pairs(count)
    rows = [pair.branch(pair.chosen) for pair in pairs]
    others = [
        pair.branch(pairs[other].rejected)
        for pair, other in zip(pairs, partners([str(n) for n in range(count)]), strict=True)
    ]
    reference = random_model(seed=reference_seed)
    (*_, seen), (*_, other) = (
        list(score_rows(reference, some, pad=PAD)) for some in (rows, others)
    )
    good = torch.tensor([number % 3 > 0 for number in range(count)])
    return Examples(rows, others, good, seen.sums, other.sums - drift)


def step(batch: Examples, monkeypatch: pytest.MonkeyPatch, tokens: int) -> tuple[Figures, Tensor]:
    for module in ("kto_learner", "logprobs"):
        monkeypatch.setattr(
            f"training.algorithms.{module}.groups_by_length",
            lambda them: batching.groups_by_length(them, tokens=tokens),
        )
    model = random_model()
    recipe = Kto(
        algorithm="kto", learning_rate=1e-9, gradient_clip=1e9, beta=0.5, undesirable_weight=1.5
    )
    learner = KtoLearner(model, make_optimizer(model.parameters()), recipe, PAD)
    figures = learner.step(0, batch)
    return figures, torch.cat([weight.grad.flatten() for weight in model.parameters()])


def test_loss_and_gradient_are_the_same_for_any_micro_batch_and_row_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, gradient = step(examples(), monkeypatch, 10**6)
    assert float(gradient.norm()) > 1e-3
    assert whole.kl > 0
    backwards = examples().at(list(range(9, -1, -1)))
    for tokens, batch in ((1, examples()), (80, examples()), (10**6, backwards)):
        figures, other = step(batch, monkeypatch, tokens)
        assert figures.loss == pytest.approx(whole.loss, rel=1e-5)
        assert figures.kl == pytest.approx(whole.kl, rel=1e-4)
        assert torch.allclose(gradient, other, rtol=1e-3, atol=1e-5 * float(gradient.norm()))


def test_the_first_step_from_the_reference_itself_loses_half_of_the_mean_weight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = examples(reference_seed=0, drift=0.0)
    figures, _ = step(batch, monkeypatch, 10**6)
    weights = torch.where(batch.good, 1.0, 1.5)
    assert figures.loss == pytest.approx(float(weights.mean()) / 2, abs=1e-4)
    assert (figures.kl, figures.good_ratio, figures.bad_ratio) == pytest.approx((0, 0, 0), abs=1e-4)


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=20))
def test_every_answer_is_matched_with_another_of_another_task_if_there_is_one(
    tasks: list[str],
) -> None:
    found = partners(tasks)
    assert all(other != place for place, other in enumerate(found))
    if len(set(tasks)) > 1:
        assert all(tasks[other] != tasks[place] for place, other in enumerate(found))


def test_with_distinct_tasks_every_answer_is_taken_once() -> None:
    assert sorted(partners([str(number) for number in range(9)])) == list(range(9))


def test_settings_that_can_teach_nothing_are_refused() -> None:
    for bad in (
        {"beta": 0},
        {"beta": math.inf},
        {"desirable_weight": -1},
        {"batch_size": 1},
        {"steps": 0},
        {"desirable_weight": 0, "undesirable_weight": 0},
    ):
        with pytest.raises(ValueError, match=r"greater than|finite|above 0"):
            Kto.model_validate({"algorithm": "kto"} | bad)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_partners_are_the_next_of_another_task_from_half_way_round(tasks: list[str]) -> None:
    count, half = len(tasks), max(1, len(tasks) // 2)
    for place, found in enumerate(partners(tasks)):
        round_ = [(place + half + step) % count for step in range(count)]
        assert found == next((one for one in round_ if tasks[one] != tasks[place]), round_[0])


def test_a_hundred_thousand_episodes_of_one_task_find_partners_in_no_time() -> None:
    begun = time.process_time()
    assert len(partners(["t"] * 100_000)) == 100_000
    assert time.process_time() - begun < 5
