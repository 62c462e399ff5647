"""Builders of runs that learn a game, and of the curve that comes with their policy."""

from __future__ import annotations

import json
from typing import Any

from stories import BEGUN, RUN, at, attempt, progress, record, result, visits

from contracts.names import AttemptKey
from relay.console.story import RunStory
from relay.console.storytelling import Sources, tell

ROUND = ("Collect rollouts", "Optimize policy", "Evaluate policy", "Decide")


def evaluated(success: float, **changed: float) -> dict[str, float]:
    """What an evaluation by games says; a start that never wins, two tasks."""
    figures = {
        "start_success_rate": 0.0,
        "start_success_rate_low": 0.0,
        "start_success_rate_high": 0.004,
        "start_mean_reward": -0.75,
        "end_success_rate": success,
        "end_success_rate_low": success - 0.02,
        "end_success_rate_high": success + 0.01,
        "end_mean_reward": success - 0.1,
        "gain": success,
        "gain_low": success - 0.02,
        "gain_high": success + 0.01,
        "episodes": 1024.0,
        "greedy_success_rate": 0.9375,
        "success_task_0": success,
        "success_task_0_low": success - 0.1,
        "success_task_1": 0.0,
        "tasks_lost": 1.0,
    }
    return figures | changed


def curve(*, looked: bool = True) -> bytes:
    """A curve of sft and dpo in round one, and seven iterations of ppo in round two."""
    lines: list[dict[str, Any]] = []

    def point(round_: int, lesson: int, algorithm: str, done: int, **figures: float) -> None:
        place = {"run": RUN, "round": round_, "lesson": lesson, "algorithm": algorithm}
        looks = {"look_games": 512.0} if looked else {}
        lines.append({**place, "done": done, "step": done, "figures": figures | looks})

    point(1, 1, "sft", 0, success_before=0.0)
    point(1, 1, "sft", 80, loss=0.9)
    point(1, 1, "sft", 160, loss=0.5, success_after=0.5)
    point(1, 2, "dpo", 60, loss=0.4, success_after=0.53125)
    point(2, 1, "ppo", 0, success_before=0.5625)
    for done in range(1, 7):
        point(2, 1, "ppo", done, success=0.5 + 0.05 * done)
    point(2, 1, "ppo", 7, success=0.85, success_after=0.9375)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def played(status: str = "PUBLISHED") -> RunStory:
    """A run of two rounds that went well."""
    seconds = {
        (1, "collect"): {"work: reading": 1.0, "joining Ray": 2.0},
        (2, "collect"): {"work: playing": 4.0, "work: gathering": 0.5},
        (1, "optimize"): {"work: training": 8.0, "work: imports": 4.0, "work: data": 1.0},
        (2, "optimize"): {"work: playing": 5.0, "work: looking back": 3.0, "work": 30.0},
        (1, "evaluate"): {"work: playing the parent": 1.0, "work: imports": 4.0},
        (2, "evaluate"): {"work: playing the candidate": 2.0},
    }
    figures = {
        (2, "collect"): {"episodes": 256.0, "success_rate": 0.5, "mean_reward": 0.4},
        (1, "optimize"): {"steps": 220.0, "loss": 0.4, "success_after": 0.53125},
        (2, "optimize"): {"steps": 7.0, "success": 0.85, "success_after": 0.9375},
        (1, "evaluate"): evaluated(0.55),
        (2, "evaluate"): evaluated(0.95, success_task_1=0.9, tasks_lost=0.0),
    }
    rounds = (*ROUND, "Next round", *ROUND, "Publish policy")
    return tell(
        Sources(
            record=record(status=status, version=1, ended_at=at(90), pipeline="guess-number"),
            attempts=[attempt(p, status="SUCCEEDED", round=r) for r, p in seconds],
            visits=visits("Gather drops", "Plan run", *rounds, last_is_left=True),
            execution="arn:execution",
            status="SUCCEEDED",
            stopped_at=at(90),
            results={
                AttemptKey(RUN, r, p, 1): result(  # type: ignore[arg-type]
                    p, round=r, metrics=figures.get((r, p), {}), seconds=took
                )
                for (r, p), took in seconds.items()
            },
            rounds=2,
        )
    )


def playing() -> RunStory:
    """A run whose policy is learning by ppo."""
    moving = progress("optimize", 3, 42, success=0.75, reward=0.5, entropy=0.3)
    return tell(
        Sources(
            record=record(),
            attempts=[attempt("optimize", progress=moving)],
            visits=visits(*BEGUN, "Optimize policy"),
            execution="arn:execution",
            status="RUNNING",
            rounds=2,
        )
    )
