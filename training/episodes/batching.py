"""Pairs as padded tensors, a few of like length at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.episodes.encoding import Answer, EncodedPair

if TYPE_CHECKING:
    from torch import Tensor

BATCH_TOKENS = 6144
"""Padded tokens of a forward pass; more gains nothing on a CPU and costs memory."""


@dataclass(frozen=True)
class Batch:
    """Rows of branches: first all chosen, then all rejected, of the same pairs.

    Attributes:
        pairs: P, the number of pairs; there are 2·P rows.
        ids: [2P, T] token ids, padded at the right.
        predicts: [2P, T] bool: whether the token *after* this position is one to learn.
        targets: [N] the tokens to learn, row by row.
        rows: [N] row of each target.
    """

    pairs: int
    ids: Tensor
    predicts: Tensor
    targets: Tensor
    rows: Tensor


def groups_by_length(
    pairs: Sequence[EncodedPair], *, tokens: int = BATCH_TOKENS
) -> list[list[int]]:
    """Cut pairs into groups of like length.

    Args:
        pairs: what to group.
        tokens: most padded tokens of a group, both branches counted; a pair that is longer by
            itself stands alone.

    Returns:
        Groups of indices, the longest pairs first; each index once.
    """
    order = sorted(range(len(pairs)), key=lambda index: (-pairs[index].length, index))
    groups: list[list[int]] = []
    width = 0
    for index in order:
        if not groups or 2 * width * (len(groups[-1]) + 1) > tokens:
            groups.append([])
            width = pairs[index].length
        groups[-1].append(index)
    return groups


def make_batch(pairs: Sequence[EncodedPair], *, pad: int, device: str = "cpu") -> Batch:
    """Pad pairs to the longest branch.

    Masks come from lengths, never from the padding's id, which may be the end token's.

    Args:
        pairs: at least one.
        pad: id that fills the right side.
        device: where the tensors shall be.
    """
    import torch

    branches = [(pair.prompt, pair.chosen) for pair in pairs]
    branches += [(pair.prompt, pair.rejected) for pair in pairs]
    width = max(pair.length for pair in pairs)
    ids = torch.full((len(branches), width), pad, dtype=torch.long)
    predicts = torch.zeros((len(branches), width), dtype=torch.bool)
    for row, (prompt, answer) in enumerate(branches):
        _fill(ids[row], predicts[row], prompt, answer)
    rows, columns = predicts.nonzero(as_tuple=True)
    targets = ids[rows, columns + 1]
    return Batch(len(pairs), *(part.to(device) for part in (ids, predicts, targets, rows)))


def _fill(ids: Tensor, predicts: Tensor, prompt: tuple[int, ...], answer: Answer) -> None:
    import torch

    start, end = len(prompt), len(prompt) + len(answer.ids)
    ids[:end] = torch.tensor(prompt + answer.ids, dtype=torch.long)
    predicts[start - 1 : end - 1] = torch.tensor(answer.learn, dtype=torch.bool)
