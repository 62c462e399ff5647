"""Kill -9 of Ray while a policy plays and while it learns by playing: nothing lost or repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from deployed import WholeLine, until

from contracts import layout
from contracts.names import Phase, attempt_key
from contracts.result import PhaseResult
from training.checkpoints.folders import folder_of
from training.rollouts.shelf import read_rollouts

pytestmark = [pytest.mark.line, pytest.mark.emulator, pytest.mark.ray]

GAMES = Path(__file__).parents[2] / "examples" / "guess-number" / "games.jsonl"
EPISODES = 2048
ITERATIONS = 16
RECIPE = {
    "model": {"source": "tiny", "vocab_size": 300, "hidden_size": 32, "context": 64},
    "environment": {
        "settings": {"numbers": 16, "turns": 5},
        "max_turns": 5,
        "max_new_tokens": 4,
    },
    "rounds": [
        {
            "collect": {"episodes": EPISODES, "actors": 2},
            "optimize": {
                "algorithm": "ppo",
                "iterations": ITERATIONS,
                "episodes": 128,
                "checkpoint_every": 2,
            },
        }
    ],
    "evaluation": {"episodes": 64},
    "gate": {"metric": "success_rate"},
    "hardware": {"cpus": 2},
    "attempts": 3,
}


def reached(line: WholeLine, run: str, phase: Phase, step: int) -> bool:
    seen = [one.progress for one in line.attempts(run) if one.phase == phase]
    return any(one.step >= step for one in seen if one)


def result_of(line: WholeLine, run: str, phase: Phase, attempt: int) -> PhaseResult:
    key = layout.result(attempt_key(run, 1, phase, attempt))
    return PhaseResult.from_bytes(line.read(key), where=key)


@pytest.mark.timeout(600)
def test_ray_killed_at_play_and_at_learning_costs_two_attempts_and_nothing_else(
    whole_line: WholeLine,
):
    whole_line.register("at-play", **RECIPE)
    whole_line.put("incoming/at-play/games.jsonl", GAMES.read_bytes())
    run = str(until(lambda: whole_line.runs("at-play"), 30)[0].run)
    until(lambda: reached(whole_line, run, "collect", 256), 120)
    whole_line.kill("gcs_server", str(whole_line.places.ray))
    until(lambda: reached(whole_line, run, "optimize", 4), 240)
    whole_line.kill("gcs_server", str(whole_line.places.ray))
    (ended,) = whole_line.ended("at-play", within_s=240)
    assert ended.status in {"PUBLISHED", "KEPT"}, ended.reason

    tries = [(one.phase, one.attempt, one.status) for one in whole_line.attempts(run)]
    assert sorted(tries) == [
        ("collect", 1, "FAILED"),
        ("collect", 2, "SUCCEEDED"),
        ("evaluate", 1, "SUCCEEDED"),
        ("optimize", 1, "FAILED"),
        ("optimize", 2, "SUCCEEDED"),
    ]
    collected = result_of(whole_line, run, "collect", 2)
    kept = int(collected.resumed_from.split(" ")[0].replace(",", ""))
    assert 256 <= kept < EPISODES
    played = list(read_rollouts(folder_of(collected.artifacts["rollouts"])))
    assert [one.index for one in played] == list(range(EPISODES))
    learnt = result_of(whole_line, run, "optimize", 2)
    assert "step" in learnt.resumed_from
    assert learnt.metrics["steps"] == ITERATIONS
