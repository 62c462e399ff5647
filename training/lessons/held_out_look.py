"""A quick look at a few held-out pairs while training goes on, for the operator's eyes only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from contracts.steps import Dpo
from training.algorithms.dpo import AnswerLogProbs, dpo_losses, preference_gap
from training.algorithms.logprobs import score
from training.episodes.encoding import EncodedPair
from training.models.protocols import CausalModel

_LOOKS = 20


def looks_at(step: int, steps: int) -> bool:
    """Whether a look is due after a step: twenty times a training, and at its end.

    Args:
        step: steps done.
        steps: of the whole training.
    """
    return step == steps or step % max(1, steps // _LOOKS) == 0


class HeldOutLook:
    """The same few pairs, looked at again and again."""

    PAIRS: ClassVar[int] = 64

    def __init__(
        self, pairs: Sequence[EncodedPair], reference: AnswerLogProbs, pad: int, device: str
    ) -> None:
        self._pairs = pairs
        self._reference = reference
        self._pad = pad
        self._device = device

    def at(self, model: CausalModel, recipe: Dpo) -> dict[str, float]:
        """Accuracy as a gate of pairs counts it, and the preference loss; nothing without pairs."""
        if not self._pairs:
            return {}
        scores = score(model, self._pairs, pad=self._pad, device=self._device)
        gap = preference_gap(scores.sums, self._reference)
        losses = dpo_losses(gap, beta=recipe.beta, label_smoothing=recipe.label_smoothing)
        wins = scores.means.chosen > scores.means.rejected
        return {
            "held_out_accuracy": float(wins.float().mean()),
            "held_out_loss": float(losses.mean()),
        }
