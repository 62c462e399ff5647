"""A quick look at a few held-out episodes while training goes on, for the operator's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path

from training.algorithms.logprobs import score_rows
from training.episodes.artifact import HELD_OUT, episodes_in
from training.lessons.labelled import encode_labelled
from training.lessons.lesson import Classroom
from training.models.protocols import CausalModel
from trajectories.labelling import Labelled

_EPISODES = 16
_LOOKS = 4


def looks_at(step: int, steps: int) -> bool:
    """Whether a look is due after a step: four times a training, and at its end.

    Args:
        step: steps done.
        steps: of the whole training.
    """
    return step == steps or step % max(1, steps // _LOOKS) == 0


class LabelLook:
    """The same few episodes, good and bad in turn, looked at again and again."""

    def __init__(self, room: Classroom) -> None:
        self._room = room
        few = _few(room.episodes)
        self._seen = encode_labelled(
            few, room.tokenizer, context=room.context, folder=room.assignment.folder
        )

    def at(self, model: CausalModel) -> dict[str, float]:
        """Accuracy and likelihood as gates count them, as far as there are such episodes."""
        import torch

        if not self._seen.rows:
            return {}
        room = self._room
        for scores in score_rows(model, self._seen.rows, pad=room.pad, device=room.device):
            means = scores.means
        good = torch.tensor(self._seen.good)
        figures = {}
        if good.any():
            figures["held_out_likelihood"] = float(means[good].mean())
        if good.any() and not good.all():
            right = means[good][:, None] > means[~good][None]
            figures["held_out_label_accuracy"] = float(right.float().mean())
        return figures


def _few(episodes: Path) -> Iterator[Labelled]:
    sides = (episodes_in(episodes, HELD_OUT, good=good) for good in (True, False))
    mixed = chain.from_iterable(zip_longest(*(islice(side, _EPISODES) for side in sides)))
    return islice((one for one in mixed if one is not None), _EPISODES)
