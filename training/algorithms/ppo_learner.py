"""One iteration's updates of PPO: passes over its episodes, in minibatches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from contracts.steps import Ppo
from training.algorithms.descent import LOSS_MAX, begin_step, end_step
from training.algorithms.experience import Experience
from training.algorithms.logprobs import logprobs_of, predict
from training.algorithms.ppo import (
    entropies,
    is_clipped,
    kl_k3,
    policy_losses,
    ratios,
    value_losses,
)
from training.algorithms.schedule import iteration_rate
from training.episodes.batching import groups_by_length, make_rows
from training.models.protocols import CausalModel
from training.models.value_head import values_of

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Linear
    from torch.optim import Optimizer


class Sums(NamedTuple):
    """Figures of some tokens, each [] and summed over them.

    Attributes:
        policy: clipped loss.
        value: loss of the values.
        entropy: in nats.
        kl: KL(before‖now) of the update so far, in nats.
        clipped: tokens whose ratio the clip holds.
    """

    policy: Tensor
    value: Tensor
    entropy: Tensor
    kl: Tensor
    clipped: Tensor

    def loss(self, recipe: Ppo) -> Tensor:
        """What is made smaller, summed over the tokens."""
        return self.policy + recipe.value_weight * self.value - recipe.entropy_weight * self.entropy


@dataclass
class PpoLearner:
    """A policy with its critic, the optimiser that moves both, and how.

    Attributes:
        model: a causal language model with dropout off.
        value_head: the critic on its trunk.
        optimizer: over the parameters of both.
        recipe: the hyperparameters.
        pad: id of the padding.
        device: where the model is.
    """

    model: CausalModel
    value_head: Linear
    optimizer: Optimizer
    recipe: Ppo
    pad: int
    device: str = "cpu"

    def update(self, iteration: int, experience: Experience, *, seed: int) -> dict[str, float]:
        """Learn from one iteration's episodes.

        Args:
            iteration: counted from 0.
            experience: the episodes.
            seed: of the order in which they are taken.

        Returns:
            Means over tokens: losses, entropy, KL and clip fraction, over all of the updates.

        Raises:
            JobFailed: a loss or a gradient is not finite, or absurd.
        """
        recipe = self.recipe
        rate = iteration_rate(
            iteration,
            peak=recipe.learning_rate,
            warmup=recipe.warmup_iterations,
            iterations=recipe.iterations,
        )
        done: list[Sums] = []
        tokens = 0
        step = iteration * recipe.epochs * recipe.minibatches
        for chosen in minibatches(len(experience.rows), recipe, seed=f"{seed}:{iteration}"):
            step += 1
            done.append(self.step(step, experience, chosen, rate))
            tokens += _actions(experience, chosen)
        names = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction")
        parts = zip(names, zip(*done, strict=True), strict=True)
        return {name: float(sum(values)) / max(1, tokens) for name, values in parts}

    def step(self, number: int, experience: Experience, chosen: Sequence[int], rate: float) -> Sums:
        """One optimiser step: a mean over all actions of the chosen episodes.

        Args:
            number: of the step, counted from 1.
            experience: all episodes.
            chosen: indices of those to learn from.
            rate: learning rate.
        """
        begin_step(self.optimizer, rate)
        tokens = max(1, _actions(experience, chosen))
        parts: list[Sums] = []
        for group in groups_by_length([experience.rows[index] for index in chosen]):
            sums = self._sums(experience, [chosen[place] for place in group])
            (sums.loss(self.recipe) / tokens).backward()  # type: ignore[no-untyped-call]
            parts.append(Sums(*(part.detach() for part in sums)))
        total = Sums(*(sum(values[1:], values[0]) for values in zip(*parts, strict=True)))
        loss = float(total.loss(self.recipe)) / tokens
        limit = LOSS_MAX * (1 + self.recipe.value_weight)
        end_step(
            self.optimizer, step=number, loss=loss, clip=self.recipe.gradient_clip, limit=limit
        )
        return total

    def _sums(self, experience: Experience, episodes: Sequence[int]) -> Sums:
        rows = [experience.rows[index] for index in episodes]
        batch = make_rows(rows, pad=self.pad, device=self.device)
        said = predict(self.model, batch)
        logprobs = logprobs_of(said.logits, batch.targets)
        old, advantages, before, returns = (
            experience.at(values, episodes, batch)
            for values in (
                experience.old,
                experience.advantages,
                experience.values,
                experience.returns,
            )
        )
        ratio = ratios(logprobs, old)
        clip = self.recipe.clip
        values = values_of(self.value_head, said.hidden)
        return Sums(
            policy=policy_losses(ratio, advantages, clip=clip).sum(),
            value=value_losses(values, before, returns, clip=self.recipe.value_clip).sum(),
            entropy=entropies(said.logits).sum(),
            kl=kl_k3(old, logprobs.detach()).sum(),
            clipped=is_clipped(ratio, advantages, clip=clip).sum(),
        )


def minibatches(episodes: int, recipe: Ppo, *, seed: str) -> Iterator[list[int]]:
    """Every pass's episodes in an order of its own, cut into parts as equal as can be.

    Args:
        episodes: how many there are.
        recipe: how many passes, and parts a pass.
        seed: of the orders.
    """
    draw = random.Random(seed)  # noqa: S311 - an order, not a secret
    for _ in range(recipe.epochs):
        order = list(range(episodes))
        draw.shuffle(order)
        for part in range(recipe.minibatches):
            chosen = order[
                part * episodes // recipe.minibatches : (part + 1) * episodes // recipe.minibatches
            ]
            if chosen:
                yield chosen


def _actions(experience: Experience, chosen: Sequence[int]) -> int:
    return sum(sum(experience.rows[index].learn) for index in chosen)
