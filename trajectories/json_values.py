"""Records of a JSON array, or objects one after another: read whole, within a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from trajectories.records import Broken, Item, item
from trajectories.strict_json import JsonFault, StrictDecoder, depth_fault, skip_white, to_text

WHOLE_BYTES_MAX = 256 * 1024 * 1024
"""Largest file that is not JSON Lines: it has to be in memory as a whole."""

_AS_LINES = "write it as JSON Lines, one record a line: those are read as a stream"


def read_values(file: BinaryIO) -> Iterator[Item]:
    """Read an array's elements, or the objects that follow one another.

    What comes before a place where the text stops being JSON is given; that place counts as
    one record, and what comes after it cannot be told apart any more.

    Args:
        file: open for reading bytes, after any byte order mark.

    Yields:
        a record or a problem an element, with its 1-based place; 0 for the file itself.
    """
    data = file.read(WHOLE_BYTES_MAX + 1)
    if len(data) > WHOLE_BYTES_MAX:
        size = f"{WHOLE_BYTES_MAX // 1024**2} MiB"
        yield Broken(0, f"is larger than {size} and not JSON Lines", _AS_LINES)
        return
    try:
        text = to_text(data)
    except JsonFault as fault:
        yield Broken(0, fault.problem, fault.remedy)
        return
    del data
    deep = depth_fault(text)
    if deep:
        yield Broken(0, deep.problem, deep.remedy)
        return
    start = skip_white(text, 0)
    yield from _elements(text, start + 1) if text[start] == "[" else _sequence(text, start)


def _elements(text: str, at: int) -> Iterator[Item]:
    decoder = StrictDecoder()
    at = skip_white(text, at)
    number = 0
    closed = text[at : at + 1] == "]"
    while not closed:
        number += 1
        try:
            found = decoder.decode(text, at)
        except JsonFault as fault:
            yield _stop(number, fault)
            return
        yield item(number, found)
        at = skip_white(text, found.end)
        mark = text[at : at + 1]
        if mark not in {",", "]"}:
            yield Broken(0, _no_comma(number, mark), "write the file with a JSON library")
            return
        closed = mark == "]"
        at = at if closed else skip_white(text, at + 1)
    if skip_white(text, at + 1) != len(text):
        yield Broken(0, f"goes on after the array's end (after record {number})", _AS_LINES)


def _sequence(text: str, at: int) -> Iterator[Item]:
    decoder = StrictDecoder()
    number = 0
    while at < len(text):
        number += 1
        try:
            found = decoder.decode(text, at)
        except JsonFault as fault:
            yield _stop(number, fault)
            return
        yield item(number, found)
        at = skip_white(text, found.end)


def _stop(number: int, fault: JsonFault) -> Broken:
    return Broken(number, f"{fault.problem} (nothing after it could be read)", fault.remedy)


def _no_comma(number: int, mark: str) -> str:
    if not mark:
        return f"ends after record {number}, before the array is closed"
    return f"has no comma after record {number} (nothing after it could be read)"
