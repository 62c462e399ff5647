"""Environments: the game's rules and odds, the allow-list, and what the guard holds off."""

import math
import random
import threading
import time
from collections.abc import Callable

import pytest

from contracts.errors import JobFailed, PipelineInvalid
from contracts.pipeline import Environment
from training.environments.guarded import HANGING_MAX, Failure, Guard
from training.environments.guess_number import GuessNumber, chance, optimum
from training.environments.loading import load


def solved(numbers: int, turns: int, task: int, guess: Callable[[int, int], int]) -> int:
    """Play a game by a strategy over what is left; its turns, 0 when lost."""
    game = GuessNumber(numbers, turns)
    game.reset(seed=0, task=task)
    low, high = 1, numbers
    for turn in range(1, turns + 1):
        said = guess(low, high)
        step = game.step(str(said))
        if step.info["success"]:
            return turn
        low, high = (said + 1, high) if step.observation == "higher" else (low, said - 1)
    return 0


def test_the_text_is_short_and_says_where_the_number_lies() -> None:
    game = GuessNumber()
    assert game.reset(seed=0, task=8) == ("1-16", {"task": 8})
    answers = [game.step(text) for text in ("4", "12", "x", "9")]
    assert [step.observation for step in answers[:3]] == ["higher", "lower", "bad"]
    assert [step.reward for step in answers] == [-0.05, -0.05, pytest.approx(-0.15), 1.0]
    assert [step.terminated for step in answers] == [False, False, False, True]
    assert [step.info["format_error"] for step in answers] == [False, False, True, False]
    assert [step.info["success"] for step in answers] == [False, False, False, True]


@pytest.mark.parametrize("text", ["", " 8", "8 ", "08", "+8", "8.0", "0", "17", "٨", "8<|user|>"])
def test_only_a_plain_number_of_the_range_is_a_guess(text: str) -> None:
    game = GuessNumber()
    game.reset(seed=0, task=0)
    step = game.step(text)
    assert (step.observation, step.info["format_error"]) == ("bad", True)


def test_a_game_out_of_turns_is_lost_and_over() -> None:
    game = GuessNumber()
    game.reset(seed=0, task=15)
    steps = [game.step("x") for _ in range(5)]
    assert [step.terminated for step in steps] == [False] * 4 + [True]
    assert math.isclose(sum(step.reward for step in steps), -0.75)
    with pytest.raises(RuntimeError, match="reset it first"):
        game.step("16")


def test_without_a_task_the_seed_hides_the_number() -> None:
    tasks = [GuessNumber().reset(seed=seed)[1]["task"] for seed in range(200)]
    assert tasks == [GuessNumber().reset(seed=seed)[1]["task"] for seed in range(200)]
    assert set(tasks) == set(range(16))


@pytest.mark.parametrize(("numbers", "turns"), [(16, 5), (16, 3), (32, 5), (5, 2)])
def test_halving_the_range_reaches_the_optimum(numbers: int, turns: int) -> None:
    games = [
        solved(numbers, turns, task, lambda low, high: (low + high) // 2) for task in range(numbers)
    ]
    assert sum(map(bool, games)) / numbers == optimum(numbers, turns)


def test_no_play_beats_the_optimum_as_every_tree_of_guesses_is_tried() -> None:
    def most(numbers: int, turns: int) -> int:
        if not numbers or not turns:
            return 0
        return max(
            1 + most(guess, turns - 1) + most(numbers - 1 - guess, turns - 1)
            for guess in range(numbers)
        )

    for numbers, turns in ((8, 3), (8, 2), (6, 3)):
        assert most(numbers, turns) / numbers == optimum(numbers, turns)


def test_the_shipped_game_has_the_odds_that_its_docstring_states() -> None:
    assert round(chance(16, 5), 3) == 0.276
    assert optimum(16, 5) == 1.0
    halving = [solved(16, 5, task, lambda low, high: (low + high) // 2) for task in range(16)]
    assert sum(halving) / 16 == 3.375


def test_deaf_guessing_solves_the_share_that_chance_says() -> None:
    draw = random.Random(0)
    games = 20_000
    wins = sum(
        bool(solved(16, 5, draw.randrange(16), lambda low, high: draw.randint(1, 16)))
        for _ in range(games)
    )
    error = math.sqrt(chance(16, 5) * (1 - chance(16, 5)) / games)
    assert abs(wins / games - chance(16, 5)) < 4 * error


def test_settings_reach_the_environment() -> None:
    make = load(Environment(settings={"numbers": 32, "turns": 6}))
    assert (make().tasks(), make().max_turns) == (32, 6)
    assert make() is not make()


@pytest.mark.parametrize(
    ("path", "settings", "reason"),
    [
        ("os:system", {}, "environment.path: os is not allowed"),
        ("training.environmentsx:A", {}, "environment.path: training.environmentsx is not allowed"),
        ("training.objects:Objects", {}, "environment.path: training.objects is not allowed"),
        ("training.environments.nowhere:A", {}, "environment.path: .* cannot be imported"),
        ("training.environments.guess_number:Nobody", {}, "environment.path: .* is no class"),
        ("training.environments.guess_number:chance", {}, "environment.path: .* is no class"),
        ("training.environments.interface:Step", {}, "environment.settings: .* does not take"),
        ("training.environments.guarded:Guard", {"limit_s": 1}, "environment.path: .* lacks tasks"),
        ("training.environments.guess_number:GuessNumber", {"dice": 2}, "environment.settings: "),
        ("training.environments.guess_number:GuessNumber", {"turns": 0}, "turns must be at least"),
    ],
)
def test_what_cannot_be_played_is_refused_with_field_and_reason(
    path: str, settings: dict[str, int], reason: str
) -> None:
    with pytest.raises(PipelineInvalid, match=reason):
        load(Environment(path=path, settings=settings))


def test_an_operator_may_allow_further_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Environment(path="played:Waiting")
    with pytest.raises(PipelineInvalid, match="played is not allowed"):
        load(spec)
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "elsewhere, played")
    assert load(spec)().max_turns == 5


def test_calls_are_made_once_each_and_answered_in_their_order() -> None:
    made: list[int] = []

    def call(index: int) -> int:
        time.sleep(0.002 * (index % 3))
        made.append(index)
        return index

    calls = [lambda index=index: call(index) for index in range(60)]
    assert Guard(5.0).each(calls) == list(range(60))
    assert sorted(made) == list(range(60))
    assert Guard(5.0).each([]) == []


def test_an_exception_fails_one_call_only() -> None:
    outcomes = Guard(5.0).each([lambda: 1, lambda: 1 // 0, lambda: 3])
    assert outcomes[0::2] == [1, 3]
    assert isinstance(outcomes[1], Failure)
    assert outcomes[1].reason.startswith("ZeroDivisionError: ")


def test_calls_that_hang_are_given_up_and_the_rest_is_still_made() -> None:
    release = threading.Event()
    calls = [lambda: 1, release.wait, lambda: 3, release.wait, lambda: 5]
    begun = time.monotonic()
    outcomes = Guard(0.2).each(calls)
    assert 0.2 <= time.monotonic() - begun < 2
    assert [outcome for outcome in outcomes if not isinstance(outcome, Failure)] == [1, 3, 5]
    assert outcomes[1] == outcomes[3] == Failure("no answer within 0.2 s")
    release.set()


def test_slow_calls_are_made_side_by_side() -> None:
    begun = time.monotonic()
    Guard(5.0).each([lambda: time.sleep(0.2)] * 16)
    assert time.monotonic() - begun < 1.6


def test_an_environment_that_hangs_again_and_again_is_broken() -> None:
    release = threading.Event()
    guard = Guard(0.02)
    for _ in range(HANGING_MAX // 4 - 1):
        guard.each([release.wait] * 4)
    with pytest.raises(JobFailed, match=r"raise environment\.step_limit_s"):
        guard.each([release.wait] * 4)
    release.set()
