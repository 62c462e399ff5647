"""What one iteration played, as the update needs it: looked at once with the policy as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.errors import JobFailed
from contracts.steps import Ppo
from training.algorithms.gae import estimate, whiten
from training.algorithms.logprobs import logprobs_of, predict, token_logprobs
from training.algorithms.ppo import kl_k1
from training.episodes.batching import Batch, groups_by_length, make_rows
from training.episodes.encoding import Row
from training.models.protocols import CausalModel
from training.models.value_head import values_of

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Linear

    from training.rollouts.episode import Episode

GAP_MAX = 1e-2
"""Nats that the sampler's and the trainer's log-probabilities of a token may differ by."""


@dataclass(frozen=True)
class Experience:
    """E episodes; whatever is [E, T] speaks of the token at that place, and of actions only.

    Attributes:
        rows: the episodes' tokens, and which of them are actions.
        actions: [E, T] bool.
        sampled: [E, T] log-probabilities that the sampler gave its tokens.
        old: [E, T] the same by the trainer's own forward pass, before the update.
        reference: [E, T] by the reference policy; `old` where there is none.
        values: [E, T] before the update.
        rewards: [E, T] of the environment and, if any, the penalty for leaving the reference.
        advantages: [E, T] whitened over all actions of all episodes.
        returns: [E, T] from the advantages as they were before that.
    """

    rows: tuple[Row, ...]
    actions: Tensor
    sampled: Tensor
    old: Tensor
    reference: Tensor
    values: Tensor
    rewards: Tensor
    advantages: Tensor
    returns: Tensor

    @property
    def sampler_gap(self) -> float:
        """Largest difference between sampler and trainer on a sampled token, in nats."""
        return float((self.sampled - self.old)[self.actions].abs().max())

    @property
    def reference_kl(self) -> float:
        """KL(policy‖reference) a token, estimated without bias."""
        return float(kl_k1(self.old, self.reference)[self.actions].mean())

    def at(self, values: Tensor, episodes: Sequence[int], batch: Batch) -> Tensor:
        """[N] figures of a batch's targets.

        Args:
            values: [E, T].
            episodes: which episode each row of the batch is.
            batch: made of their rows.
        """
        import torch

        rows = torch.tensor(episodes, device=batch.rows.device)[batch.rows]
        return values[rows, batch.places]


@dataclass
class Observer:
    """Looks at episodes with the policy as it is.

    Attributes:
        model: the policy.
        value_head: its critic.
        reference: another policy to stay near to, if any.
        recipe: the hyperparameters.
        pad: id of the padding.
        device: where the models are.
    """

    model: CausalModel
    value_head: Linear
    reference: CausalModel | None
    recipe: Ppo
    pad: int
    device: str = "cpu"

    def look(self, episodes: Sequence[Episode]) -> Experience:
        """Log-probabilities, values and advantages of at least one episode.

        Raises:
            JobFailed: an episode's reward is not on its actions, or the sampler's
                log-probabilities are not those of the policy.
        """
        import torch

        rows = tuple(_row(episode) for episode in episodes)
        shape = (len(rows), max(row.length for row in rows))
        actions = torch.zeros(shape, dtype=torch.bool, device=self.device)
        sampled, rewards, old, values = (torch.zeros(shape, device=self.device) for _ in range(4))
        for place, (row, episode) in enumerate(zip(rows, episodes, strict=True)):
            actions[place, : row.length] = torch.tensor(row.learn, dtype=torch.bool)
            sampled[place, : row.length] = torch.tensor(episode.logprobs)
            rewards[place, : row.length] = torch.tensor(episode.rewards)
        reference = old if self.reference is None else torch.zeros_like(old)
        for indices in groups_by_length(rows):
            batch = make_rows([rows[i] for i in indices], pad=self.pad, device=self.device)
            where = (torch.tensor(indices, device=self.device)[batch.rows], batch.places)
            with torch.no_grad():
                said = predict(self.model, batch)
                old[where] = logprobs_of(said.logits, batch.targets)
                values[where] = values_of(self.value_head, said.hidden)
                if self.reference is not None:
                    reference[where] = token_logprobs(self.reference, batch)
        rewards = torch.where(actions, rewards - self.recipe.kl_weight * kl_k1(old, reference), 0.0)
        made = estimate(
            rewards, values, actions, gamma=self.recipe.gamma, lambda_=self.recipe.lambda_
        )
        experience = Experience(
            rows=rows,
            actions=actions,
            sampled=sampled,
            old=old,
            reference=reference,
            values=values,
            rewards=rewards,
            advantages=whiten(made.advantages, actions),
            returns=made.returns,
        )
        _refuse_a_gap(experience.sampler_gap)
        return experience


def _row(episode: Episode) -> Row:
    """The episode's tokens; one whose rewards the update would not see is refused.

    Raises:
        JobFailed: see above.
    """
    seen = sum(r for r, acted in zip(episode.rewards, episode.actions, strict=True) if acted)
    if abs(seen - sum(episode.rewards)) > _LOST:
        raise JobFailed(
            f"episode {episode.index} has a reward on a token that the policy did not sample; "
            "it would be lost, so place it on the last sampled token of the turn"
        )
    return Row(tuple(episode.ids), tuple(int(acted) for acted in episode.actions))


_LOST = 1e-9


def _refuse_a_gap(gap: float) -> None:
    if not gap <= GAP_MAX:
        raise JobFailed(
            f"the sampler's log-probabilities differ from the trainer's by up to {gap:g} nats, "
            f"more than {GAP_MAX:g}: episodes were not sampled from this policy, or its numbers "
            "are broken"
        )
