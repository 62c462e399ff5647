"""Rows of tokens as padded tensors, a few of like length at a time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from training.episodes.encoding import EncodedPair, Row

if TYPE_CHECKING:
    from torch import Tensor

BATCH_TOKENS = 6144
"""Padded tokens of a forward pass; more gains nothing on a CPU and costs memory."""


class Sized(Protocol):
    """What becomes one or more rows of a batch."""

    @property
    def length(self) -> int:
        """Tokens of its longest row."""

    @property
    def height(self) -> int:
        """Rows."""


@dataclass(frozen=True)
class Batch:
    """Rows, and which of their tokens are targets.

    Attributes:
        ids: [R, T] token ids, padded at the right.
        predicts: [R, T] bool: whether the token *after* this position is one to learn.
        targets: [N] the tokens to learn, row by row.
        rows: [N] row of each target.
        places: [N] place of each target within its row.
    """

    ids: Tensor
    predicts: Tensor
    targets: Tensor
    rows: Tensor
    places: Tensor

    @property
    def pairs(self) -> int:
        """P of a batch of pairs, whose 2·P rows are first all chosen, then all rejected."""
        return int(self.ids.shape[0]) // 2


def groups_by_length(items: Sequence[Sized], *, tokens: int = BATCH_TOKENS) -> list[list[int]]:
    """Cut items into groups of like length.

    Args:
        items: what to group.
        tokens: most padded tokens of a group; an item that is longer by itself stands alone.

    Returns:
        Groups of indices, the longest items first; each index once.
    """
    # Each item is looked at once, as it may have to be read from a disk.
    lengths, heights = array("q"), array("q")
    for item in items:
        lengths.append(item.length)
        heights.append(item.height)
    groups: list[list[int]] = []
    room = 0
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        if not groups or room < heights[index]:
            groups.append([])
            room = tokens // lengths[index]
        groups[-1].append(index)
        room -= heights[index]
    return groups


def make_batch(pairs: Sequence[EncodedPair], *, pad: int, device: str = "cpu") -> Batch:
    """Pad pairs to the longest branch: first all chosen, then all rejected, of the same pairs.

    Args:
        pairs: at least one.
        pad: id that fills the right side.
        device: where the tensors shall be.
    """
    branches = [pair.branch(pair.chosen) for pair in pairs]
    branches += [pair.branch(pair.rejected) for pair in pairs]
    return make_rows(branches, pad=pad, device=device)


def make_rows(rows: Sequence[Row], *, pad: int, device: str = "cpu") -> Batch:
    """Pad rows to the longest.

    Masks come from lengths, never from the padding's id, which may be the end token's. A row's
    first token is never a target, as nothing stands before it.

    Args:
        rows: at least one.
        pad: id that fills the right side.
        device: where the tensors shall be.
    """
    import torch

    width = max(row.length for row in rows)
    ids = torch.full((len(rows), width), pad, dtype=torch.long)
    predicts = torch.zeros((len(rows), width), dtype=torch.bool)
    for place, row in enumerate(rows):
        ids[place, : row.length] = torch.tensor(row.ids, dtype=torch.long)
        predicts[place, : row.length - 1] = torch.tensor(row.learn[1:], dtype=torch.bool)
    found, before = predicts.nonzero(as_tuple=True)
    places = before + 1
    targets = ids[found, places]
    return Batch(*(part.to(device) for part in (ids, predicts, targets, found, places)))
