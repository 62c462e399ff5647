"""Keys and values of many rows, each at its own length, in memory that is laid out once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

_FIRST_LENGTH = 64
_READ_LEAST = 32
_READ_STEP = 8
"""Places are read by so many: products of few or odd places take a CPU longer than of more."""


class Aim(NamedTuple):
    """Where the next forward pass writes and reads.

    Attributes:
        rows: [b] rows that are fed.
        places: [b, q] place of each token fed; place `RowCache.length` is for padding.
        everyone: whether the rows are all of the cache, in their order.
        reach: places of a row that are read, from its start; see `RowCache.reserve`.
    """

    rows: Tensor
    places: Tensor
    everyone: bool
    reach: int


class RowCache:
    """What a transformers model takes for its `cache`: it calls `update` in every layer.

    A row has places for its tokens, and one more that padding is written to and nothing is ever
    read from. Places that hold nothing yet are zero: attention masks them out, but a weight of
    zero would not undo a NaN.
    """

    def __init__(self, rows: int, length: int) -> None:
        """Lay out nothing yet, as only the model knows its heads.

        Args:
            rows: how many.
            length: most tokens of a row.
        """
        self.rows = rows
        self._most = length
        self.length = min(length, _FIRST_LENGTH)
        self._layers: dict[int, tuple[Tensor, Tensor]] = {}
        self._aim: Aim | None = None
        self._slots: dict[int, Tensor] = {}

    def reserve(self, length: int) -> int:
        """Make room for rows of so many tokens; the places to read for them.

        Room at least doubles, so that what is there is seldom copied.
        """
        if length > self.length:
            self.length = min(self._most, max(length, 2 * self.length))
            for layer, kept in self._layers.items():
                self._layers[layer] = self._grown(kept[0]), self._grown(kept[1])
        return min(self.length, max(_READ_LEAST, -(-length // _READ_STEP) * _READ_STEP))

    def aim(self, aim: Aim) -> None:
        """Say where the coming forward pass writes and reads."""
        self._aim = aim
        self._slots = {}

    def update(
        self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write a layer's new keys and values; all that the fed rows may look at.

        Args:
            keys: [b, heads, q, size] of the tokens fed.
            values: the same shape, or another size.
            layer: the layer's number.

        Returns:
            Keys and values, [b, heads, reach, size].
        """
        if self._aim is None:
            raise RuntimeError("aim the cache before the forward pass")
        if layer not in self._layers:
            self._layers[layer] = self._room_for(keys), self._room_for(values)
        slots = self._slots_of(self._aim, keys.shape[1])
        kept_keys, kept_values = self._layers[layer]
        return (
            _write(kept_keys, keys, slots, self._aim),
            _write(kept_values, values, slots, self._aim),
        )

    def copy(self, source: Tensor, target: Tensor, length: int) -> None:
        """Give rows the first `length` places of others.

        Args:
            source: [n] rows to copy from.
            target: [n] rows to copy to; none is a source.
            length: places.
        """
        for kept in self._layers.values():
            for part in kept:
                part[target, :, :length] = part[source, :, :length]

    def _slots_of(self, aim: Aim, heads: int) -> Tensor:
        """[b * heads * q] place of each token in a layer's memory taken as one long row."""
        import torch

        if heads not in self._slots:
            head = torch.arange(heads, device=aim.rows.device)
            starts = (aim.rows[:, None] * heads + head) * (self.length + 1)
            self._slots[heads] = (starts[:, :, None] + aim.places[:, None]).flatten()
        return self._slots[heads]

    def _room_for(self, part: Tensor) -> Tensor:
        heads, size = part.shape[1], part.shape[3]
        return part.new_zeros((self.rows, heads, self.length + 1, size))

    def _grown(self, kept: Tensor) -> Tensor:
        grown, places = self._room_for(kept), kept.shape[2] - 1
        grown[:, :, :places] = kept[:, :, :places]
        return grown


def _write(kept: Tensor, new: Tensor, slots: Tensor, aim: Aim) -> Tensor:
    kept.flatten(0, 2).index_copy_(0, slots, new.flatten(0, 2))
    everyone = kept if aim.everyone else kept[aim.rows]
    return everyone[:, :, : aim.reach]
