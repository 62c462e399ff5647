"""A small policy that plays, and environments that behave or misbehave."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from typing import Any

import torch

from contracts.pipeline import TinyModel
from training.environments.guess_number import GuessNumber
from training.environments.interface import Step
from training.models.protocols import CausalModel, Tokenizer
from training.models.tiny import make_tiny
from training.models.tokenizer import train_tokenizer
from training.rollouts.episode import Episode
from training.rollouts.playing import play
from training.rollouts.seeds import EpisodePlan, plan_episodes

CONTEXT = 96


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    """Numbers and words of the game are one token each."""
    words = [*(str(number) for number in range(1, 17)), "1-16", "higher", "lower", "bad"]
    return train_tokenizer(words * 3, vocab_size=320, context=CONTEXT)


@lru_cache(maxsize=1)
def policy() -> CausalModel:
    """Random, but it says the end token every third time or so, so that turns differ in length."""
    torch.manual_seed(0)
    shape = TinyModel(hidden_size=32, layers=2, heads=2, context=CONTEXT)
    model = make_tiny(shape, tokenizer())
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.04)
    end = tokenizer().eos_token_id
    head = model.get_output_embeddings()
    head.bias = torch.nn.Parameter(torch.zeros(len(tokenizer())))
    head.bias.data[end] = 5.0
    numbers = [
        ids[0]
        for ids in tokenizer()(
            [str(number) for number in range(1, 17)], add_special_tokens=False, verbose=False
        )["input_ids"]
    ]
    head.bias.data[numbers] = 4.0
    return model.eval()


def plans(count: int, *, tasks: int = 16) -> list[EpisodePlan]:
    """Episodes of a collect."""
    return plan_episodes("r260101-120000-aaaaaa", 1, "collect", count=count, tasks=tasks, seed=0)


def played(count: int = 24, make: Any = GuessNumber, **changes: Any) -> list[Episode]:
    """Play; the episodes by index."""
    settings: dict[str, Any] = {
        "temperature": 1.0,
        "max_turns": 8,
        "max_new_tokens": 4,
        "context": CONTEXT,
    }
    chosen = changes.pop("plans", None) or plans(count)
    episodes = play(policy(), tokenizer(), make, chosen, **settings | changes)
    return sorted(episodes, key=lambda episode: episode.index)


class Misbehaving(GuessNumber):
    """Raises, hangs, gives nonsense or ends its process in the games of some tasks."""

    def __init__(self, how: str = "raise", every: int = 4, where: str = "step") -> None:
        super().__init__()
        self._how = how
        self._every = every
        self._where = where
        self._task = 0

    def reset(self, *, seed: int, task: int | None = None) -> tuple[str, dict[str, Any]]:
        made = super().reset(seed=seed, task=task)
        self._task = made[1]["task"]
        if self._where == "reset":
            self._misbehave()
        return made

    def step(self, text: str) -> Step:
        here = self._where == "step" or (self._where == "guess" and text != "-")
        wrong = self._misbehave() if here else None
        return super().step(text) if wrong is None else wrong

    def _misbehave(self) -> Any:
        if self._task % self._every:
            return None
        if self._how == "raise":
            raise ZeroDivisionError("of the environment")
        if self._how == "hang":
            time.sleep(1.5)
        if self._how == "exit":
            os._exit(3)
        return {"nan": Step("bad", float("nan")), "text": "no step"}.get(self._how)


class Waiting(GuessNumber):
    """Takes its time for every step."""

    def step(self, text: str) -> Step:
        time.sleep(0.03)
        return super().step(text)
