"""One optimiser step of DPO over a batch of pairs, in as many forward passes as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from contracts.steps import Dpo
from training.algorithms.descent import LOSS_MAX, begin_step, end_step
from training.algorithms.dpo import AnswerLogProbs, dpo_losses, preference_gap
from training.algorithms.learner import Learner
from training.algorithms.logprobs import answer_sums, token_logprobs
from training.algorithms.schedule import learning_rate
from training.episodes.batching import Batch, groups_by_length, make_batch
from training.episodes.encoding import EncodedPair

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Figures:
    """What a step, or a look at held-out pairs, showed; each an average over its pairs.

    Attributes:
        loss: in nats, the likelihood term included.
        reward_accuracy: share of pairs with Δ > 0; a tie is not a win.
        margin: Δ in nats.
    """

    loss: float
    reward_accuracy: float
    margin: float


class _Part(NamedTuple):
    loss: Tensor
    gap: Tensor


class DpoLearner(Learner[Dpo]):
    """Learns from batches of pairs."""

    def step(self, number: int, pairs: Sequence[EncodedPair], reference: AnswerLogProbs) -> Figures:
        """Learn from one batch.

        The loss is a mean over the whole batch, and its likelihood term over all its chosen
        tokens, so that neither depends on how the batch is cut into forward passes.

        Args:
            number: of the step, counted from 0.
            pairs: P pairs.
            reference: [P] sums of the reference policy.

        Raises:
            JobFailed: the loss or the gradient is not finite, or the loss is absurd.
        """
        recipe = self.recipe
        rate = learning_rate(
            number, peak=recipe.learning_rate, warmup=recipe.warmup_steps, steps=recipe.steps
        )
        begin_step(self.optimizer, rate)
        parts = []
        chosen_tokens = sum(sum(pair.chosen.learn) for pair in pairs)
        mine = self.party.share(range(len(pairs)))
        for group in groups_by_length([pairs[i] for i in mine]):
            indices = [mine[place] for place in group]
            batch = make_batch([pairs[i] for i in indices], pad=self.pad, device=self.device)
            theirs = AnswerLogProbs(*(side[indices].to(self.device) for side in reference))
            part = self._part(batch, theirs, len(pairs), chosen_tokens)
            part.loss.backward()  # type: ignore[no-untyped-call]
            parts.append(_Part(part.loss.detach(), part.gap.detach()))
        self.party.sum_gradients(self.model.parameters())
        figures = self._figures(parts, len(pairs))
        sound = LOSS_MAX * (1 + recipe.chosen_nll_weight)
        end_step(
            self.optimizer,
            step=number + 1,
            loss=figures.loss,
            clip=recipe.gradient_clip,
            limit=sound,
        )
        return figures

    def _part(
        self, batch: Batch, reference: AnswerLogProbs, pairs: int, chosen_tokens: int
    ) -> _Part:
        values = token_logprobs(self.model, batch)
        policy = answer_sums(values, batch)
        gap = preference_gap(policy, reference)
        losses = dpo_losses(gap, beta=self.recipe.beta, label_smoothing=self.recipe.label_smoothing)
        loss = losses.sum() / pairs
        if self.recipe.chosen_nll_weight:
            likelihood = policy.chosen.sum() / max(1, chosen_tokens)
            loss = loss - self.recipe.chosen_nll_weight * likelihood
        return _Part(loss, gap)

    def _figures(self, parts: Sequence[_Part], pairs: int) -> Figures:
        sums = [
            sum(float(part.loss) for part in parts),
            sum(float((part.gap > 0).sum()) for part in parts),
            sum(float(part.gap.sum()) for part in parts),
        ]
        loss, wins, gaps = self.party.sums(sums, self.device)
        return Figures(loss=loss, reward_accuracy=wins / pairs, margin=gaps / pairs)
