"""Which tasks are played: all of them in turn, whatever there are more of, games or tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_box import Box
from sample_games import DPO, PPO, games_file, make_games, playing_recipe

from contracts.artifact import ArtifactRef
from training.algorithms.dpo_learner import DpoLearner
from training.rollouts import playing
from training.rollouts.episode import Episode
from training.rollouts.seeds import EpisodePlan, plan_episodes
from training.rollouts.tasks import task_of


def planned(purpose: str = "optimize-0", **changes: Any) -> list[EpisodePlan]:
    values: dict[str, Any] = {"count": 100, "tasks": 1000, "seed": 3}
    return plan_episodes("r1", 1, purpose, **values | changes)


def tasks_of(plans: list[EpisodePlan]) -> list[int]:
    return [plan.task for plan in plans if plan.task is not None]


@given(st.integers(1, 70), st.integers(0, 3), st.text(max_size=3))
def test_every_order_holds_each_task_once(tasks: int, turn: int, order: str) -> None:
    found = [task_of(place, tasks, order) for place in range(turn * tasks, (turn + 1) * tasks)]
    assert sorted(found) == list(range(tasks))


def test_every_task_comes_first_as_often_as_any_other() -> None:
    first = Counter(task_of(0, 16, str(order)) for order in range(8_000))
    expected = 8_000 / 16
    chi_squared = sum((first[task] - expected) ** 2 / expected for task in range(16))
    assert chi_squared < 37.7  # the 99.9% quantile for 15 degrees of freedom


def test_as_many_tasks_as_one_likes_cost_nothing() -> None:
    found = {task_of(place, 10**12, "order") for place in range(2_000)}
    assert len(found) == 2_000
    assert all(0 <= task < 10**12 for task in found)
    assert 0.4e12 < sum(found) / 2_000 < 0.6e12


def test_iterations_go_through_all_tasks_before_any_comes_again() -> None:
    iterations = [planned(first=100 * number) for number in range(20)]
    played = [task for one in iterations for task in tasks_of(one)]
    assert sorted(played[:1000]) == list(range(1000))
    assert sorted(played[1000:]) == list(range(1000))
    assert played[:1000] != played[1000:]
    assert [plan.index for one in iterations for plan in one] == list(range(2000))
    assert len({plan.seed for one in iterations for plan in one}) == 2000


def test_no_run_round_or_purpose_plays_what_another_plays_first() -> None:
    """Of 1,000 tasks two lots of 100 share 10 by chance, and hardly ever 25."""
    others = [
        planned("collect"),
        planned("evaluate"),
        planned("optimize-1"),
        planned("optimize-look"),
        plan_episodes("r2", 1, "optimize-0", count=100, tasks=1000, seed=3),
        plan_episodes("r1", 2, "optimize-0", count=100, tasks=1000, seed=3),
        planned(seed=4),
    ]
    for other in others:
        assert len({*tasks_of(planned())} & {*tasks_of(other)}) < 25


@pytest.mark.parametrize("tasks", [16, 1000])
def test_a_group_plays_one_task_with_seeds_of_its_own(tasks: int) -> None:
    plans = planned(tasks=tasks, first=32, group_size=8)
    for start in range(0, 96, 8):
        some = plans[start : start + 8]
        assert len({plan.task for plan in some}) == 1
        assert len({plan.seed for plan in some}) == 8
    assert len({plan.task for plan in plans[:96]}) == 12


def test_games_of_few_tasks_play_them_in_equal_shares() -> None:
    assert {*Counter(tasks_of(planned(tasks=16, count=256, first=512))).values()} == {16}


def inputs(box: Box, *steps: dict[str, Any], **changes: Any) -> dict[str, ArtifactRef]:
    box.pipeline = playing_recipe(rounds=[{"optimize": list(steps)}], **changes)
    box.drop("games.jsonl", games_file(make_games(60)))
    box.plan()
    collected = box.finished("collect").artifacts
    return {name: collected[name] for name in ("episodes", "start")}


def test_a_training_goes_on_through_the_tasks_with_seeds_that_no_step_had_before(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Sequence[EpisodePlan]] = []

    def noted(*args: Any, **kwargs: Any) -> Iterator[Episode]:
        played.append(args[3])
        return real(*args, **kwargs)

    real = playing.play
    monkeypatch.setattr(playing, "play", noted)
    step = {**PPO, "iterations": 3, "episodes": 8}
    made = inputs(
        box,
        step,
        step,
        environment={"settings": {"numbers": 99, "turns": 2}, "max_turns": 2},
        evaluation={"episodes": 16},
    )
    box.finished("optimize", made)
    one, two = played[1:4], played[5:8]
    for iterations in (one, two):
        assert len({plan.task for plans in iterations for plan in plans}) == 24
    assert len({plan.seed for plans in (*one, *two) for plan in plans}) == 48
    assert {plan.task for plans in one for plan in plans} != {
        plan.task for plans in two for plan in plans
    }


def test_two_steps_of_a_recipe_take_the_same_pairs_in_orders_of_their_own(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[int, ...]] = []
    real = DpoLearner.step

    def noted(self: DpoLearner, number: int, pairs: Any, reference: Any) -> Any:
        taken.append(tuple(hash(pair) for pair in pairs))
        return real(self, number, pairs, reference)

    monkeypatch.setattr(DpoLearner, "step", noted)
    step = {**DPO, "steps": 3, "batch_size": 4}
    box.finished("optimize", inputs(box, step, step))
    assert len(taken) == 6
    assert taken[:3] != taken[3:]
    assert len({item for batch in taken for item in batch}) > 12
