"""Pairs out of episodes: of one task, far enough apart, the same ones in any order."""

from __future__ import annotations

import random
import time
from itertools import product

import pytest
from episode_files import episode
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.pipeline import DataRules
from trajectories.learnable import learnable
from trajectories.pair import Pair
from trajectories.pairing_episodes import pairs_of
from trajectories.trajectory import Trajectory


def said(pair: Pair) -> tuple[str, str]:
    return (
        "/".join(turn.content for turn in pair.chosen),
        "/".join(turn.content for turn in pair.rejected),
    )


def all_pairs(episodes: list[Trajectory], gap: float = 0.1) -> set[tuple[str, str]]:
    return {said(pair) for pair in pairs_of(episodes, min_gap=gap, per_task=10**6)}


def test_the_better_rewarded_episode_of_a_task_is_chosen() -> None:
    good = episode("1", 0.95, "1-16", "8", "lower", "4")
    bad = episode("1", -0.25, "1-16", "8", "lower", "9", "lower")
    (pair,) = pairs_of([bad, good], min_gap=0.1, per_task=10)
    assert [turn.content for turn in pair.prompt] == ["1-16"]
    assert said(pair) == ("8/lower/4", "8/lower/9")
    assert pair.chosen[-1].role == pair.rejected[-1].role == "assistant"


def test_episodes_of_two_tasks_or_two_openings_are_not_compared() -> None:
    one = episode("1", 1.0, "1-16", "8")
    other_task = episode("2", 0.0, "1-16", "9")
    other_opening = episode("1", 0.0, "1-32", "9")
    assert pairs_of([one, other_task, other_opening], min_gap=0.1, per_task=10) == ()


@pytest.mark.parametrize(("worse", "made"), [(0.85, 1), (0.84, 1), (0.86, 0), (0.95, 0)])
def test_rewards_must_differ_by_the_gap_and_rounding_does_not_count(
    worse: float, made: int
) -> None:
    episodes = [episode("1", 0.95, "1-16", "8"), episode("1", worse, "1-16", "9")]
    assert len(pairs_of(episodes, min_gap=0.1, per_task=10)) == made


def test_episodes_that_went_alike_make_no_pair_whatever_they_were_rewarded() -> None:
    episodes = [episode("1", 1.0, "1-16", "8"), episode("1", 0.0, "1-16", "8 ")]
    assert pairs_of(episodes, min_gap=0.1, per_task=10) == ()


def test_word_for_word_repetitions_make_a_pair_once() -> None:
    episodes = [episode("1", 1.0, "1-16", "8", trial=str(trial)) for trial in range(5)]
    episodes += [episode("1", 0.0, "1-16", "9", trial=str(trial)) for trial in range(5)]
    assert len(pairs_of(episodes, min_gap=0.1, per_task=100)) == 1


REWARDS = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@settings(max_examples=200, deadline=None)
@given(rewards=REWARDS, gap=st.integers(1, 4), most=st.integers(1, 80), seed=st.integers(0, 5))
def test_exactly_the_pairs_that_qualify_are_made_up_to_the_cap_in_any_order(
    rewards: list[int], gap: int, most: int, seed: int
) -> None:
    episodes = [
        episode("1", float(reward), "go", f"word {number}") for number, reward in enumerate(rewards)
    ]
    wanted = {
        (f"word {a}", f"word {b}")
        for (a, one), (b, two) in product(enumerate(rewards), enumerate(rewards))
        if one - two >= gap
    }
    assert all_pairs(episodes, gap) == wanted
    capped = pairs_of(episodes, min_gap=gap, per_task=most)
    assert len(capped) == min(most, len(wanted))
    assert {said(pair) for pair in capped} <= wanted
    shuffled = random.Random(seed).sample(episodes, len(episodes))
    assert pairs_of(shuffled, min_gap=gap, per_task=most) == capped


def test_what_is_drawn_of_many_pairs_uses_the_episodes_evenly() -> None:
    episodes = [episode("1", float(n % 2), "go", f"word {n}") for n in range(200)]
    pairs = pairs_of(episodes, min_gap=0.5, per_task=100)
    chosen = {said(pair)[0] for pair in pairs}
    rejected = {said(pair)[1] for pair in pairs}
    assert len(pairs) == 100
    assert len(rejected) == 100
    assert len(chosen) >= 55


def test_twenty_thousand_episodes_of_one_task_are_paired_in_no_time() -> None:
    episodes = [episode("1", n / 20_000, "go", f"word {n}") for n in range(20_000)]
    begun = time.process_time()
    assert len(pairs_of(episodes, min_gap=0.1, per_task=100)) == 100
    assert time.process_time() - begun < 5


def many(count: int) -> list[Trajectory]:
    return [episode(str(n % 4), n / count, "1-16", f"word {n}") for n in range(count)]


def test_a_policy_that_plays_learns_from_every_episode_and_looks_at_a_share_of_pairs() -> None:
    rules = DataRules(held_out_share=0.25, pairs_per_task=50)
    made = learnable([], many(60), rules, plays=True)
    assert len(made.demonstrations) == 60
    assert len(made.training) + len(made.held_out) == 200
    assert 25 <= len(made.held_out) <= 75
    assert not {pair.id for pair in made.training} & {pair.id for pair in made.held_out}


def test_a_policy_of_pairs_keeps_whole_prompts_from_training_and_has_no_demonstrations() -> None:
    made = learnable([], many(60), DataRules(held_out_share=0.25), plays=False)
    assert made.demonstrations == ()
    assert not made.training or not made.held_out
    assert not {pair.prompt for pair in made.training} & {pair.prompt for pair in made.held_out}


def test_pairs_that_were_dropped_join_those_that_were_made_and_come_once() -> None:
    episodes = many(12)
    dropped = pairs_of(episodes, min_gap=0.1, per_task=3)
    made = learnable(dropped, [*episodes, *episodes], DataRules(), plays=True)
    everything = {pair.id for pair in (*made.training, *made.held_out)}
    assert {pair.id for pair in dropped} <= everything
    assert len(made.demonstrations) == 12
    ids = [one.id for one in made.demonstrations]
    assert ids == sorted(ids)
