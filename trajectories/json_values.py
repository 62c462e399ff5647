"""Records of a JSON array, or objects one after another, as a stream in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from trajectories.json_window import Window
from trajectories.records import Broken, Item, item
from trajectories.strict_json import JsonFault

_AS_LINES = "write it as JSON Lines, one record a line"
_NO_COMMAS = "put [ before the first record and ] after the last, or take the commas off"


def read_values(file: BinaryIO) -> Iterator[Item]:
    """Read an array's elements, or the objects that follow one another.

    What comes before a place where the text stops being JSON is given; that place counts as
    one record, and what comes after it cannot be told apart any more.

    Args:
        file: open for reading bytes, after any byte order mark.

    Yields:
        a record or a problem an element, with its 1-based place; 0 for the file itself.
    """
    window = Window(file)
    if window.mark() != "[":
        yield from _sequence(window)
        return
    window.step()
    yield from _elements(window)


def _elements(window: Window) -> Iterator[Item]:
    number = 0
    closed = window.mark() == "]"
    while not closed:
        number += 1
        try:
            found, size = window.value()
        except JsonFault as fault:
            yield _stop(number, fault)
            return
        yield item(number, found, size)
        mark = window.mark()
        if mark not in {",", "]"}:
            yield _no_comma(number, mark, window)
            return
        closed = mark == "]"
        if not closed:
            window.step()
            closed = window.mark() == "]"
            if closed:
                yield Broken(0, "has a comma after its last record", "take that comma off")
    window.step()
    if window.mark():
        yield Broken(0, f"goes on after the array's end (after record {number})", _AS_LINES)
    elif window.fault:
        yield Broken(0, window.fault.problem, window.fault.remedy)


def _sequence(window: Window) -> Iterator[Item]:
    number = 0
    while mark := window.mark():
        if mark == "," and number:
            words = f"has a comma after record {number} (nothing after it could be read)"
            yield Broken(0, words, _NO_COMMAS)
            return
        number += 1
        try:
            found, size = window.value()
        except JsonFault as fault:
            yield _stop(number, fault)
            return
        yield item(number, found, size)
    if window.fault:
        yield Broken(0, window.fault.problem, window.fault.remedy)


def _stop(number: int, fault: JsonFault) -> Broken:
    return Broken(number, f"{fault.problem} (nothing after it could be read)", fault.remedy)


def _no_comma(number: int, mark: str, window: Window) -> Broken:
    if window.fault:
        return Broken(0, window.fault.problem, window.fault.remedy)
    words = f"ends after record {number}, before the array is closed"
    if mark:
        words = f"has no comma after record {number} (nothing after it could be read)"
    return Broken(0, words, "write the file with a JSON library")
