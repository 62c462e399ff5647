"""What was encoded, on disk: a sequence whose items are read when they are asked for."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import orjson

from training.episodes.encoding import Encoded, EncodedPair, Row
from training.episodes.fitting import Answer, Exchange, Prompt
from training.episodes.values_file import Place, ValuesFile

T = TypeVar("T")


class Shelf(Sequence[T], Generic[T]):
    """Holds sixteen bytes an item in memory."""

    def __init__(
        self, folder: Path | None, plain: Callable[[T], object], made: Callable[[Any], T]
    ) -> None:
        """Begin empty.

        Args:
            folder: an existing one for the file, which has no name; None for the system's own.
            plain: an item as JSON.
            made: the item of such JSON.
        """
        self._values = ValuesFile(folder)
        self._plain, self._made = plain, made
        self._starts, self._sizes = array("q"), array("q")
        self._hash = hashlib.sha256()

    def add(self, item: T) -> None:
        """Put an item at the end.

        Raises:
            OSError: the disk refuses.
        """
        data = orjson.dumps(self._plain(item))
        self._hash.update(b"%d:%b" % (len(data), data))
        start, size = self._values.add(data)
        self._starts.append(start)
        self._sizes.append(size)

    def arrange(self, order: Iterable[int]) -> None:
        """Put the items into another order, or leave some out.

        Args:
            order: their present places.
        """
        places = array("q", order)
        self._starts = array("q", (self._starts[place] for place in places))
        self._sizes = array("q", (self._sizes[place] for place in places))
        self._hash.update(places.tobytes())

    @property
    def digest(self) -> str:
        """Hexadecimal sha256 of all items and their order."""
        return self._hash.hexdigest()

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...

    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        data = self._values.at(Place(self._starts[place], self._sizes[place]))
        return self._made(orjson.loads(data))


def shelf_of_rows(folder: Path | None) -> Shelf[Row]:
    """An empty one for rows."""
    return Shelf(folder, lambda row: [row.ids, row.learn], _row)


def shelf_of_pairs(folder: Path | None) -> Shelf[EncodedPair]:
    """An empty one for pairs."""
    return Shelf(folder, _plain_pair, _pair)


def shelf_of_encoded(folder: Path | None) -> Shelf[Encoded]:
    """An empty one for conversations before anything is cut."""
    return Shelf(folder, _plain_encoded, _encoded)


def _row(told: list[list[int]]) -> Row:
    ids, learn = told
    return Row(tuple(ids), tuple(learn))


def _plain_pair(pair: EncodedPair) -> list[tuple[int, ...]]:
    sides = (pair.chosen, pair.rejected)
    return [pair.prompt, *(part for side in sides for part in (side.ids, side.learn))]


def _pair(told: list[list[int]]) -> EncodedPair:
    prompt, *sides = (tuple(part) for part in told)
    return EncodedPair(prompt, Answer(*sides[:2]), Answer(*sides[2:]))


def _plain_encoded(one: Encoded) -> list[object]:
    exchanges = [[tuple(exchange) for exchange in answer] for answer in one.answers]
    return [tuple(one.prompt), exchanges]


def _encoded(told: list[Any]) -> Encoded:
    (system, turns, last), answers = told
    prompt = Prompt(tuple(system), tuple(tuple(turn) for turn in turns), tuple(last))
    made = tuple(tuple(Exchange(*map(tuple, one)) for one in answer) for answer in answers)
    return Encoded(prompt, made)
