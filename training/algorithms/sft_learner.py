"""One optimiser step of supervised learning, in as many forward passes as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contracts.steps import Sft
from training.algorithms.descent import begin_step, end_step
from training.algorithms.learner import Learner
from training.algorithms.logprobs import token_logprobs
from training.algorithms.schedule import learning_rate
from training.algorithms.sft import share_of_loss
from training.episodes.batching import groups_by_length, make_rows
from training.episodes.encoding import Row

if TYPE_CHECKING:
    pass


class SftLearner(Learner[Sft]):
    """Learns from batches of rows."""

    def step(self, number: int, rows: Sequence[Row]) -> float:
        """Learn from one batch.

        Args:
            number: of the step, counted from 0.
            rows: the batch.

        Returns:
            Its loss in nats a token, a mean over the whole batch's tokens, before the step.

        Raises:
            JobFailed: the loss or the gradient is not finite, or the loss is absurd.
        """
        recipe = self.recipe
        rate = learning_rate(
            number, peak=recipe.learning_rate, warmup=recipe.warmup_steps, steps=recipe.steps
        )
        begin_step(self.optimizer, rate)
        tokens = sum(sum(row.learn) for row in rows)
        total = 0.0
        mine = self.party.share(rows)
        for indices in groups_by_length(mine):
            batch = make_rows([mine[i] for i in indices], pad=self.pad, device=self.device)
            loss = share_of_loss(token_logprobs(self.model, batch), tokens=tokens)
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        self.party.sum_gradients(self.model.parameters())
        (total,) = self.party.sums([total], self.device)
        end_step(self.optimizer, step=number + 1, loss=total, clip=recipe.gradient_clip)
        return total
