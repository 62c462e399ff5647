"""A player: a policy with an environment, asked for a set of episodes at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.pipeline import Environment
from training.environments.loading import MakeEnvironment, load
from training.models.protocols import CausalModel, Tokenizer
from training.rollouts.episode import Episode
from training.rollouts.seeds import EpisodePlan


@dataclass(frozen=True)
class Order:
    """What every player of a set of episodes is told.

    Attributes:
        policy: verified folder of the policy.
        environment: the pipeline's.
        context: longest sequence in tokens.
        temperature: of the sampling; 0 takes the likeliest token.
        device: where to compute.
    """

    policy: Path
    environment: Environment
    context: int
    temperature: float
    device: str = "cpu"


class Player:
    """Plays in the process it lives in, with one thread.

    One thread, because two players do more on two cores than one player with two threads, and
    because sums must not depend on how many threads share them: a set of episodes comes out the
    same wherever it is played.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._ready: tuple[CausalModel, Tokenizer, MakeEnvironment] | None = None

    def play(self, plans: Sequence[EpisodePlan]) -> list[Episode]:
        """Play episodes side by side; what came of them, by index.

        Raises:
            RelayError: the policy or the environment cannot be used.
        """
        from training.rollouts.playing import play

        order, (model, tokenizer, make_environment) = self._order, self._prepare()
        episodes = play(
            model,
            tokenizer,
            make_environment,
            plans,
            temperature=order.temperature,
            max_turns=order.environment.max_turns,
            max_new_tokens=order.environment.max_new_tokens,
            context=order.context,
            step_limit_s=order.environment.step_limit_s,
        )
        return sorted(episodes, key=lambda episode: episode.index)

    def _prepare(self) -> tuple[CausalModel, Tokenizer, MakeEnvironment]:
        if self._ready is None:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
            import torch

            from training.models.folders import load_model, load_tokenizer

            torch.set_num_threads(1)
            order = self._order
            model = load_model(order.policy, device=order.device)
            self._ready = model, load_tokenizer(order.policy), load(order.environment)
        return self._ready
