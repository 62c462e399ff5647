"""Logged games of a small range, and pipelines that learn from them in a second."""

from __future__ import annotations

import json
import random
from typing import Any

from job_box import recipe

from contracts.pipeline import Pipeline

NUMBERS = 4
TURNS = 3
OPENING = f"1-{NUMBERS}"
SFT = {"algorithm": "sft", "steps": 4, "batch_size": 8, "warmup_steps": 1, "checkpoint_every": 2}
DPO = {"algorithm": "dpo", "steps": 4, "batch_size": 8, "warmup_steps": 1, "checkpoint_every": 2}
PPO = {"algorithm": "ppo", "iterations": 1, "episodes": 16, "minibatches": 2}


def one_game(draw: random.Random, secret: int) -> tuple[list[dict[str, str]], float]:
    """What was said, and the return."""
    said = [{"role": "user", "content": OPENING}]
    reward = 0.0
    for turn in range(TURNS):
        guess = draw.randint(1, NUMBERS)
        said.append({"role": "assistant", "content": str(guess)})
        if guess == secret:
            return said, round(reward + 1, 2)
        reward -= 0.05
        if turn < TURNS - 1:
            said.append({"role": "user", "content": "higher" if guess < secret else "lower"})
    return said, round(reward, 2)


def make_games(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Records as an agent's log has them."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        said, reward = one_game(draw, 1 + number % NUMBERS)
        task = number % NUMBERS
        made.append({"task_id": task, "trial": number, "reward": reward, "traj": said})
    return made


def games_file(games: list[dict[str, Any]]) -> bytes:
    """The games as a file that somebody would drop."""
    return b"".join(json.dumps(game).encode() + b"\n" for game in games)


def playing_recipe(**changes: Any) -> Pipeline:
    """A pipeline with an environment; what is given replaces the whole of a part, by name."""
    settings = {"numbers": NUMBERS, "turns": TURNS}
    environment = {"settings": settings, "max_turns": TURNS, "max_new_tokens": 3}
    return recipe(
        **{
            "environment": environment | changes.pop("environment", {}),
            "rounds": [{"optimize": [SFT, DPO]}, {"optimize": PPO}],
            "evaluation": {"episodes": 32},
            "gate": {"metric": "success_rate"},
            "data": {"held_out_share": 0.2},
            **changes,
        }
    )
