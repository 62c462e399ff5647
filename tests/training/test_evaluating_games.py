"""`evaluate` by games: held-out seeds, the same for both policies; what the gate reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from job_box import RUN, Box
from sample_games import NUMBERS, games_file, make_games, playing_recipe

from contracts.artifact import ArtifactRef
from contracts.result import PhaseResult
from training.environments.guess_number import GuessNumber
from training.environments.interface import Step
from training.rollouts import playing
from training.rollouts.episode import Episode
from training.rollouts.seeds import EpisodePlan, episode_seed

GAMES = 32
GATE = {
    *("start_success_rate", "end_success_rate", "gain", "gain_low", "gain_high", "episodes"),
    *("start_mean_reward", "end_mean_reward", "greedy_success_rate", "tasks_lost"),
}


class Broken(GuessNumber):
    """Fails at its second turn."""

    def step(self, text: str) -> Step:
        step = super().step(text)
        if self._turns_left == 1:
            raise RuntimeError("no more")
        return step


@pytest.fixture
def start(box: Box) -> dict[str, ArtifactRef]:
    box.pipeline = playing_recipe()
    box.drop("games.jsonl", games_file(make_games(60)))
    box.plan()
    return dict(box.finished("collect").artifacts)


def evaluated(
    box: Box, artifacts: dict[str, ArtifactRef], round_: int = 1, **inputs: Any
) -> PhaseResult:
    given = {"start": artifacts["start"], "policy": artifacts["start"], **inputs}
    spec = box.job("evaluate", given, round_=round_)
    assert box.run(spec) == 0, box.result(spec).failure
    return box.result(spec)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was asked to be played, and what came of it."""
    calls: list[dict[str, Any]] = []
    real = playing.play

    def listening(*given: Any, **settings: Any) -> Iterator[Episode]:
        call = {"plans": given[3], **settings, "episodes": []}
        calls.append(call)
        for episode in real(*given, **settings):
            call["episodes"].append(episode)
            yield episode

    monkeypatch.setattr(playing, "play", listening)
    return calls


def seeds(plans: Sequence[EpisodePlan]) -> list[int]:
    return [plan.seed for plan in plans]


def test_a_policy_judged_against_itself_has_gained_nothing(
    box: Box, start: dict[str, ArtifactRef]
) -> None:
    result = evaluated(box, start)
    figures = result.metrics
    assert set(figures) >= GATE | {f"success_task_{task}" for task in range(NUMBERS)}
    assert figures["start_success_rate"] == figures["end_success_rate"]
    assert figures["start_mean_reward"] == figures["end_mean_reward"]
    assert figures["gain"] == 0
    assert figures["gain_low"] < 0 < figures["gain_high"]
    assert figures["episodes"] == GAMES
    assert result.artifacts == {}


def test_both_policies_play_the_same_held_out_seeds_and_the_candidate_also_greedily(
    box: Box, start: dict[str, ArtifactRef], played: list[dict[str, Any]]
) -> None:
    evaluated(box, start)
    assert [call["temperature"] for call in played] == [1.0, 1.0, 0.0]
    assert played[0]["plans"] == played[1]["plans"]
    sampled, greedy = played[0]["plans"], played[2]["plans"]
    assert seeds(sampled) == [episode_seed(RUN, 1, "evaluate", n) for n in range(GAMES)]
    assert [plan.task for plan in greedy] == list(range(NUMBERS))
    others = {
        episode_seed(RUN, round_, purpose, n)
        for round_ in (1, 2)
        for purpose in ("collect", "optimize-0", "optimize-1")
        for n in range(1000)
    }
    assert not others & {*seeds(sampled), *seeds(greedy)}
    counts = [sum(plan.task == task for plan in sampled) for task in range(NUMBERS)]
    assert counts == [GAMES // NUMBERS] * NUMBERS
    assert {call["max_turns"] for call in played} == {3}
    assert {call["max_new_tokens"] for call in played} == {3}
    assert {call["context"] for call in played} == {64}


def test_another_round_is_judged_on_other_seeds_against_the_runs_parent(
    box: Box, start: dict[str, ArtifactRef], played: list[dict[str, Any]]
) -> None:
    evaluated(box, start)
    evaluated(box, start, round_=2, parent=start["start"])
    assert not set(seeds(played[0]["plans"])) & set(seeds(played[3]["plans"]))


def test_the_figures_are_those_of_the_games_that_were_played(
    box: Box, start: dict[str, ArtifactRef], played: list[dict[str, Any]]
) -> None:
    figures = evaluated(box, start).metrics
    games = played[1]["episodes"]
    assert figures["end_success_rate"] == sum(one.success for one in games) / GAMES
    assert figures["end_mean_reward"] == pytest.approx(sum(one.reward for one in games) / GAMES)
    for task in range(NUMBERS):
        won = [one.success for one in games if one.task == task]
        assert figures[f"success_task_{task}"] == sum(won) / len(won)


def test_a_policy_that_learnt_from_games_plays_better_than_the_one_it_came_from(box: Box) -> None:
    sft = {"algorithm": "sft", "steps": 60, "batch_size": 32, "learning_rate": 0.01}
    box.pipeline = playing_recipe(rounds=[{"optimize": [sft]}])
    box.drop("games.jsonl", games_file(make_games(200)))
    box.plan()
    artifacts = dict(box.finished("collect").artifacts)
    learnt = box.finished("optimize", {name: artifacts[name] for name in ("episodes", "start")})
    figures = evaluated(box, artifacts, policy=learnt.artifacts["policy"]).metrics
    assert figures["start_success_rate"] == 0
    assert figures["end_success_rate"] > 0.4
    assert figures["gain_low"] > 0
    assert figures["end_format_errors"] < 0.5 < figures["start_format_errors"]


def test_games_in_which_the_environment_fails_are_lost_and_said_to_be(
    box: Box, start: dict[str, ArtifactRef], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_ENVIRONMENTS", __name__)
    box.pipeline = playing_recipe(environment={"path": f"{__name__}:Broken"})
    box.plan()
    result = evaluated(box, start)
    assert result.metrics["end_failed"] == GAMES
    assert result.metrics["end_success_rate"] == 0
    assert f"the environment failed in {GAMES} of {GAMES} games" in result.notes[0]
    assert "no more" in result.notes[0]


def test_a_task_that_is_never_solved_is_named(box: Box, start: dict[str, ArtifactRef]) -> None:
    result = evaluated(box, start)
    assert result.metrics["tasks_lost"] == NUMBERS
    assert result.notes[-1] == f"{NUMBERS} tasks were never solved: 0, 1, 2, 3"


def test_the_gates_metric_decides_what_the_gain_is_of(
    box: Box, start: dict[str, ArtifactRef]
) -> None:
    box.pipeline = playing_recipe(gate={"metric": "mean_reward"})
    box.plan()
    figures = evaluated(box, start).metrics
    assert figures["gain"] == figures["gain_low"] == figures["gain_high"] == 0
