"""A recipe of several steps: each is gone through in turn, and gone on with after an end."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from job_box import BUCKET, RUN, Box
from sample_games import DPO, PPO, SFT, games_file, make_games, playing_recipe

from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.result import PhaseResult
from training.assignment import Assignment, read_assignment
from training.checkpoints.folders import folder_of
from training.environments.guess_number import GuessNumber
from training.environments.interface import Step
from training.events import Advance, Event, Stopped
from training.objects import Objects
from training.phases import optimize

Collected = tuple[Box, dict[str, ArtifactRef]]
ITERATIONS = {**PPO, "iterations": 4, "checkpoint_every": 2, "kl_weight": 0.01, "group_size": 2}
RECIPE = [SFT, DPO, ITERATIONS]


class Lenient(GuessNumber):
    """Takes every answer for the right one."""

    def step(self, text: str) -> Step:
        return Step("yes", 1.0, terminated=True, info={"success": True, "format_error": False})


@pytest.fixture
def games(box: Box) -> Collected:
    """A box with sixty games, collected."""
    box.pipeline = playing_recipe(rounds=[{"optimize": RECIPE}])
    box.drop("games.jsonl", games_file(make_games(60)))
    box.plan()
    return box, dict(box.finished("collect").artifacts)


def inputs(artifacts: dict[str, ArtifactRef]) -> dict[str, ArtifactRef]:
    return {name: artifacts[name] for name in ("episodes", "start")}


def optimized(games: Collected, attempt: int = 1) -> PhaseResult:
    box, artifacts = games
    spec = box.job("optimize", inputs(artifacts), attempt=attempt)
    assert box.run(spec) == 0, box.result(spec).failure
    return box.result(spec)


def policy_files(result: PhaseResult) -> dict[str, bytes]:
    folder = folder_of(result.artifacts["policy"])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def events(box: Box, spec: JobSpec) -> tuple[Assignment, Iterator[Event]]:
    objects = Objects(BUCKET, box.client)
    assignment = read_assignment(objects, spec)
    return assignment, optimize.work(assignment, optimize.prepare(assignment, objects))


def stopped_after(games: Collected, steps: int) -> None:
    """An attempt that is asked to stop when so many units are done."""
    box, artifacts = games
    assignment, work = events(box, box.job("optimize", inputs(artifacts)))
    for event in work:
        if isinstance(event, Advance) and event.step == steps and "Training" in event.stage:
            assignment.stop_mark.touch()
    assert event == Stopped(steps)


def series_of(box: Box) -> Path:
    return box.folder / RUN / "1-optimize-checkpoints"


def test_the_steps_are_gone_through_in_turn_and_progress_counts_over_all(
    games: Collected,
) -> None:
    box, artifacts = games
    spec = box.job("optimize", inputs(artifacts))
    seen = [event for event in events(box, spec)[1] if isinstance(event, Advance)]
    training = [event for event in seen if event.stage.startswith("Training")]
    assert list(dict.fromkeys(event.stage for event in training)) == [
        "Training by sft, 1 of 3",
        "Training by dpo, 2 of 3",
        "Training by ppo, 3 of 3",
    ]
    steps = [event.step for event in training]
    assert steps == sorted(steps)
    assert set(steps) >= set(range(1, 13))
    assert {event.steps for event in training} == {12}


def test_the_result_holds_the_figures_of_every_step(games: Collected) -> None:
    metrics = optimized(games).metrics
    assert {"sft_loss", "sft_success_before", "sft_success_after", "sft_train_episodes"} <= set(
        metrics
    )
    assert {"dpo_loss", "dpo_margin", "dpo_held_out_accuracy", "dpo_success_after"} <= set(metrics)
    assert {
        *("reward", "success", "kl", "clip_fraction", "entropy", "explained_variance"),
        *("sampler_gap", "tokens", "reference_kl", "success_after", "steps"),
    } <= set(metrics)
    assert metrics["sampler_gap"] <= 1e-4
    assert metrics["steps"] == 12


def test_the_curve_lies_beside_the_policy_point_by_point(games: Collected) -> None:
    files = policy_files(optimized(games))
    points = [json.loads(line) for line in files["curve.jsonl"].splitlines()]
    assert [(point["algorithm"], point["done"]) for point in points] == [
        *[("sft", done) for done in range(5)],
        *[("dpo", done) for done in range(1, 5)],
        *[("ppo", done) for done in range(1, 5)],
    ]
    assert all(before["step"] < after["step"] for before, after in pairwise(points))
    assert "value_head.safetensors" not in files


@pytest.mark.parametrize("steps", [1, 3, 4, 5, 7, 8, 9, 11])
def test_going_on_within_any_step_ends_bit_for_bit_where_one_training_would(
    games: Collected, steps: int
) -> None:
    box, _ = games
    whole = policy_files(optimized(games))
    box.folder = box.folder / "again"
    stopped_after(games, steps)
    second = optimized(games, attempt=2)
    assert second.resumed_from == f"step {steps} of attempt 1"
    assert policy_files(second) == whole


def test_a_training_that_was_complete_is_not_trained_again(games: Collected) -> None:
    first, second = optimized(games), optimized(games, attempt=2)
    assert second.resumed_from == "step 12 of attempt 1"
    assert policy_files(second) == policy_files(first)
    assert second.metrics == first.metrics


def test_a_step_whose_beginning_is_damaged_is_begun_again_from_further_back(
    games: Collected,
) -> None:
    box, _ = games
    whole = policy_files(optimized(games))
    box.folder = box.folder / "again"
    stopped_after(games, 10)
    weights = series_of(box) / "beginning-03" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    second = optimized(games, attempt=2)
    assert second.resumed_from == "step 8 of attempt 1"
    assert any("began from is lost" in note for note in second.notes)
    assert policy_files(second) == whole


def test_another_recipe_in_a_later_step_is_another_training(games: Collected) -> None:
    box, _ = games
    stopped_after(games, 2)
    changed = {**ITERATIONS, "clip": 0.3}
    box.pipeline = playing_recipe(rounds=[{"optimize": [SFT, DPO, changed]}])
    box.plan()
    second = optimized(games, attempt=2)
    assert second.resumed_from == ""
    assert any("another recipe" in note for note in second.notes)


def test_good_play_ends_the_step_early_and_the_next_attempt_knows(
    games: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, _ = games
    monkeypatch.setattr("training.lessons.ppo_lesson._STOP_OVER", 2)
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "test_lessons")
    box.pipeline = playing_recipe(
        rounds=[{"optimize": [SFT, {**ITERATIONS, "iterations": 50}]}],
        environment={"path": "test_lessons:Lenient"},
    )
    box.plan()
    first = optimized(games)
    assert first.metrics["steps"] == 4 + 2
    second = optimized(games, attempt=2)
    assert policy_files(second) == policy_files(first)


def test_a_stop_while_games_are_played_loses_no_more_than_the_iteration(
    games: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, artifacts = games
    whole = policy_files(optimized(games))
    box.folder = box.folder / "again"
    monkeypatch.setattr("training.lessons.games._SIGN_EVERY_S", 0.0)
    assignment, work = events(box, box.job("optimize", inputs(artifacts)))
    signs = 0
    for event in work:
        signs += isinstance(event, Advance) and event.step == 9
        if signs == 3:
            assignment.stop_mark.touch()
    assert event == Stopped(9)
    second = optimized(games, attempt=2)
    assert second.resumed_from == "step 9 of attempt 1"
    assert policy_files(second) == whole


def broken_environment(box: Box, how: str, every: int) -> None:
    box.pipeline = playing_recipe(
        rounds=[{"optimize": [SFT, {**PPO, "iterations": 2}]}],
        environment={
            "path": "played:Misbehaving",
            "settings": {"how": how, "every": every},
            "step_limit_s": 5,
        },
        model={
            **{"source": "tiny", "vocab_size": 300, "hidden_size": 16, "layers": 1, "heads": 2},
            "context": 96,
        },
    )
    box.plan()


@pytest.mark.parametrize(
    ("how", "every", "error"), [("nan", 4, "a reward of nan"), ("raise", 1, "failed, 16x by")]
)
def test_an_environment_that_gives_nothing_to_learn_from_ends_the_job_for_good(
    games: Collected, monkeypatch: pytest.MonkeyPatch, how: str, every: int, error: str
) -> None:
    box, artifacts = games
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "played")
    monkeypatch.setattr("training.lessons.play_look.PlayLook.at", lambda *_: {})
    broken_environment(box, how, every)
    spec = box.job("optimize", inputs(artifacts))
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error == "JobFailed"
    assert error in failure.cause


def test_episodes_whose_environment_failed_are_counted_and_not_learnt_from(
    games: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, _ = games
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "played")
    broken_environment(box, "raise", 4)
    metrics: dict[str, Any] = optimized(games).metrics
    assert metrics["failed"] == 4
