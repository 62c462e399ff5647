"""One optimiser step of KTO over a batch of answers, in as many forward passes as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from contracts.steps import Kto
from training.algorithms.descent import LOSS_MAX, begin_step, end_step
from training.algorithms.kto import kl_baseline, kto_losses
from training.algorithms.learner import Learner
from training.algorithms.logprobs import row_sums, score_rows, token_logprobs
from training.algorithms.schedule import learning_rate
from training.episodes.batching import groups_by_length, make_rows
from training.episodes.encoding import Row

if TYPE_CHECKING:
    from torch import Tensor


class Examples(NamedTuple):
    """P answers, good and bad, with what the reference policy makes of them.

    Attributes:
        rows: each prompt with its answer.
        mismatched: each prompt with an answer to another one.
        good: [P] bool.
        reference: [P] log-probabilities of the answers, in nats.
        reference_mismatched: [P] of the answers to other prompts.
    """

    rows: Sequence[Row]
    mismatched: Sequence[Row]
    good: Tensor
    reference: Tensor
    reference_mismatched: Tensor

    def at(self, indices: Sequence[int]) -> Examples:
        """Some of them."""
        return Examples(
            [self.rows[index] for index in indices],
            [self.mismatched[index] for index in indices],
            self.good[indices],
            self.reference[indices],
            self.reference_mismatched[indices],
        )


@dataclass(frozen=True)
class Figures:
    """What a step showed, before it was taken.

    Attributes:
        loss: mean over the batch.
        kl: z₀ in nats.
        good_ratio: mean log-ratio of good answers, in nats; 0 without any.
        bad_ratio: of bad ones.
    """

    loss: float
    kl: float
    good_ratio: float
    bad_ratio: float


class KtoLearner(Learner[Kto]):
    """Learns from batches of good and bad answers."""

    def step(self, number: int, batch: Examples) -> Figures:
        """Learn from one batch.

        The baseline is the whole batch's, so that neither it nor the loss depends on how the
        batch is cut into forward passes.

        Args:
            number: of the step, counted from 0.
            batch: P examples, at least one.

        Raises:
            JobFailed: the loss or the gradient is not finite, or the loss is absurd.
        """
        import torch

        recipe = self.recipe
        rate = learning_rate(
            number, peak=recipe.learning_rate, warmup=recipe.warmup_steps, steps=recipe.steps
        )
        mine = self.party.share(range(len(batch.rows)))
        baseline = self._baseline(batch, mine)
        begin_step(self.optimizer, rate)
        ratios = torch.zeros(len(batch.rows))
        total = 0.0
        for group in groups_by_length([batch.rows[index] for index in mine]):
            indices = [mine[place] for place in group]
            part = self._ratios(batch, indices)
            losses = kto_losses(
                part,
                baseline,
                batch.good[indices].to(self.device),
                beta=recipe.beta,
                desirable_weight=recipe.desirable_weight,
                undesirable_weight=recipe.undesirable_weight,
            )
            loss = losses.sum() / len(batch.rows)
            loss.backward()  # type: ignore[no-untyped-call]
            ratios[indices] = part.detach().cpu()
            total += float(loss.detach())
        self.party.sum_gradients(self.model.parameters())
        figures = self._figures(total, float(baseline), ratios, batch.good)
        weight = max(1.0, recipe.desirable_weight, recipe.undesirable_weight)
        end_step(
            self.optimizer,
            step=number + 1,
            loss=figures.loss,
            clip=recipe.gradient_clip,
            limit=LOSS_MAX * weight,
        )
        return figures

    def _baseline(self, batch: Examples, mine: list[int]) -> Tensor:
        import torch

        rows = [batch.mismatched[index] for index in mine]
        sums = torch.zeros(0)
        for scores in score_rows(self.model, rows, pad=self.pad, device=self.device):
            sums = scores.sums
        total = float((sums - batch.reference_mismatched[mine]).sum())
        (whole,) = self.party.sums([total], self.device)
        return kl_baseline(torch.tensor([whole / len(batch.rows)])).to(self.device)

    def _ratios(self, batch: Examples, indices: list[int]) -> Tensor:
        rows = make_rows([batch.rows[i] for i in indices], pad=self.pad, device=self.device)
        sums = row_sums(token_logprobs(self.model, rows), rows)
        return sums - batch.reference[indices].to(self.device)

    def _figures(self, loss: float, kl: float, ratios: Tensor, good: Tensor) -> Figures:
        """Ratios that other learners have worked out are 0 here, so sums are of all."""
        sums = [loss, float(ratios[good].sum()), float(ratios[~good].sum())]
        whole, of_good, of_bad = self.party.sums(sums, self.device)
        count = int(good.sum())
        return Figures(
            loss=whole,
            kl=kl,
            good_ratio=of_good / max(1, count),
            bad_ratio=of_bad / max(1, len(ratios) - count),
        )
