"""The figures of games: whose success, how sure, and which task was lost."""

from __future__ import annotations

from typing import Any

import pytest

from training.phases.game_verdict import TABLE_MAX, compare, lost_tasks
from training.rollouts.episode import Episode
from training.statistics.proportions import paired_difference, wilson


def game(index: int, success: bool, reward: float = 0.0, **changes: Any) -> Episode:
    values: dict[str, Any] = {
        "index": index,
        "seed": 1000 + index,
        "task": index % 4,
        "ids": [1, 2, 3],
        "actions": [False, True, True],
        "logprobs": [0.0, -1.0, -1.0],
        "rewards": [0.0, 0.0, reward],
        "reward": reward,
        "success": success,
        "turns": 1,
        "terminated": True,
        "truncated": False,
        "format_errors": 0,
    }
    return Episode(**(values | changes))


def games(wins: str, **changes: Any) -> list[Episode]:
    """`1` for a game won, `0` for a lost one."""
    return [game(n, mark == "1", float(mark), **changes) for n, mark in enumerate(wins)]


def test_success_before_and_after_have_wilsons_bounds_and_a_paired_gain() -> None:
    before, after = games("11000000" * 4), games("11111100" * 4)
    figures = compare(before, after, games("1110"), metric="success_rate")
    assert figures["episodes"] == 32
    assert (figures["start_success_rate"], figures["end_success_rate"]) == (0.25, 0.75)
    for name, wins, total in (("start", 8, 32), ("end", 24, 32)):
        bounds = wilson(wins, total)
        assert figures[f"{name}_success_rate_low"] == bounds.low
        assert figures[f"{name}_success_rate_high"] == bounds.high
    expected = paired_difference(both=8, first_only=16, second_only=0, neither=8)
    gain = (figures["gain"], figures["gain_low"], figures["gain_high"])
    assert gain == (expected.value, expected.low, expected.high)
    assert figures["greedy_success_rate"] == 0.75


def test_a_policy_that_got_worse_has_a_negative_gain() -> None:
    figures = compare(games("1" * 40), games("10" * 20), games("1"), metric="success_rate")
    assert figures["gain"] == -0.5
    assert figures["gain_high"] < 0


def test_the_gain_in_mean_reward_is_of_the_same_games_and_the_same_every_time() -> None:
    before = [game(n, False, n / 10) for n in range(40)]
    after = [game(n, False, n / 10 + (0.5 if n % 2 else 0.25)) for n in range(40)]
    figures = compare(before, after, after[:4], metric="mean_reward")
    assert figures["gain"] == pytest.approx(0.375)
    assert 0.25 < figures["gain_low"] < 0.375 < figures["gain_high"] < 0.5
    spread = figures["end_mean_reward_high"] - figures["end_mean_reward_low"]
    assert figures["gain_high"] - figures["gain_low"] < spread / 4
    assert compare(before, after, after[:4], metric="mean_reward") == figures


def test_a_lost_task_shows_in_the_table_though_the_rest_is_won() -> None:
    after = games("1101" * 16)
    figures = compare(games("0" * 64), after, games("1101"), metric="success_rate")
    assert [figures[f"success_task_{task}"] for task in range(4)] == [1, 1, 0, 1]
    assert figures["success_task_2_high"] == wilson(0, 16).high
    assert figures["tasks_lost"] == 1
    assert lost_tasks(after) == [2]


def test_a_table_of_very_many_tasks_is_left_out_but_the_lost_ones_are_counted() -> None:
    after = [game(n, n != 5, task=n) for n in range(TABLE_MAX + 1)]
    figures = compare(after, after, after, metric="success_rate")
    assert not [name for name in figures if name.startswith("success_task")]
    assert figures["tasks_lost"] == 1


def test_a_game_whose_environment_failed_counts_as_lost_and_is_counted() -> None:
    after = [*games("111"), game(3, False, failed="it hung")]
    figures = compare(games("0000"), after, games("1"), metric="success_rate")
    assert (figures["end_success_rate"], figures["end_failed"]) == (0.75, 1)


def test_how_it_played_is_told_of_both_sides() -> None:
    before = games("00", turns=3, format_errors=3, truncated=True)
    figures = compare(before, games("11"), games("1"), metric="success_rate")
    assert (figures["start_turns"], figures["end_turns"]) == (3, 1)
    assert (figures["start_format_errors"], figures["end_format_errors"]) == (1, 0)
    assert (figures["start_truncated"], figures["end_truncated"]) == (1, 0)


def test_different_games_are_not_compared() -> None:
    with pytest.raises(ValueError, match="different games"):
        compare(games("11"), games("111"), games("1"), metric="success_rate")
    moved = [game(n, True, seed=n) for n in range(2)]
    with pytest.raises(ValueError, match="different games"):
        compare(games("11"), moved, games("1"), metric="success_rate")
