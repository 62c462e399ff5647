"""Keys and values of many rows, each at its own length, in memory that is laid out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class Aim(NamedTuple):
    """Where the next forward pass writes and reads.

    Attributes:
        slots: [b * q] flat slot of each token fed; `RowCache.slot_of` says which.
        rows: [b] rows that are fed; None for all of the cache, in their order.
        reach: slots of a row that are read, from its start.
    """

    slots: Tensor
    rows: Tensor | None
    reach: int


class RowCache:
    """What a transformers model takes for its `cache`: it calls `update` in every layer.

    A row has `length` slots for tokens, and one more that padding is written to and nothing is
    ever read from. Slots that hold nothing yet are zero: attention masks them out, but a weight
    of zero would not undo a NaN.
    """

    def __init__(self, rows: int, length: int) -> None:
        self.rows = rows
        self.length = length
        self._layers: dict[int, tuple[Tensor, Tensor]] = {}
        self._aim: Aim | None = None

    @property
    def width(self) -> int:
        """Slots of a row, the one for padding included."""
        return self.length + 1

    def aim(self, aim: Aim) -> None:
        """Say where the coming forward pass writes and reads."""
        self._aim = aim

    def update(
        self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write a layer's new keys and values; all that the fed rows may look at.

        Args:
            keys: [b, heads, q, width] of the tokens fed.
            values: the same shape, or another width.
            layer: the layer's number.

        Returns:
            Keys and values, [b, heads, reach, width].
        """
        if self._aim is None:
            raise RuntimeError("aim the cache before the forward pass")
        if layer not in self._layers:
            self._layers[layer] = self._room_for(keys), self._room_for(values)
        kept_keys, kept_values = self._layers[layer]
        return _write(kept_keys, keys, self._aim), _write(kept_values, values, self._aim)

    def copy(self, source: Tensor, target: Tensor, length: int) -> None:
        """Give rows the first `length` slots of others.

        Args:
            source: [n] rows to copy from.
            target: [n] rows to copy to; none is a source.
            length: slots.
        """
        for kept in self._layers.values():
            for part in kept:
                part[target, :length] = part[source, :length]

    def _room_for(self, part: Tensor) -> Tensor:
        heads, size = part.shape[1], part.shape[3]
        return part.new_zeros((self.rows, self.width, heads, size))


def _write(kept: Tensor, new: Tensor, aim: Aim) -> Tensor:
    kept.flatten(0, 1).index_copy_(0, aim.slots, new.transpose(1, 2).flatten(0, 1))
    seen = kept[:, : aim.reach] if aim.rows is None else kept[aim.rows, : aim.reach]
    return seen.transpose(1, 2)
