"""One JSON value, read strictly: what two readers could take differently is refused."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NamedTuple

from trajectories.refusal import shown

NESTING_MAX = 64
"""Depth of lists and objects; a record of messages with parts needs six."""

_LONGEST_MARK = len("-Infinity") + 3
"""Characters at a text's end that may be the beginning of a number, a name or an escape."""
_REWRITE = "write the record with a JSON library"
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.?[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_TRAILING = re.compile(r",\s*[\]}]")
_WHITE = re.compile(r"[ \t\r\n]*+")


class JsonFault(ValueError):
    """The text is not JSON from here on.

    Attributes:
        at: character at which it stops making sense, from 0.
        problem: what is wrong, in words that follow "the record …".
        remedy: what to do.
        may_go_on: whether more text could still make sense of it.
    """

    def __init__(
        self, at: int, problem: str, remedy: str = _REWRITE, *, may_go_on: bool = False
    ) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem
        self.remedy = remedy
        self.may_go_on = may_go_on


class Place(NamedTuple):
    """Where a text begins in its file: lines before it, and characters before it in its line."""

    lines: int = 0
    columns: int = 0

    def after(self, text: str) -> Place:
        """Where what follows a text begins."""
        lines = text.count("\n")
        columns = len(text) - text.rfind("\n") - 1 if lines else self.columns + len(text)
        return Place(self.lines + lines, columns)


class Decoded(NamedTuple):
    """A value, where it ends, and what is wrong with it although it could be read."""

    value: Any
    end: int
    defect: str


class StrictDecoder:
    """Decodes values one after another out of a text.

    NaN, Infinity, numbers too large for a float, and an object that has a key twice make a
    value defective; the text after it can still be read.
    """

    def __init__(self) -> None:
        self._defect = ""
        self._json = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_float=self._float,
        )

    def decode(self, text: str, at: int = 0, place: Place = Place()) -> Decoded:  # noqa: B008
        """Decode the value that begins at a character.

        Args:
            text: holds the value.
            at: where it begins.
            place: where the text begins, for a fault's words.

        Raises:
            JsonFault: there is no complete JSON value, or it is nested too deeply.
        """
        self._defect = ""
        try:
            value, end = self._json.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise _fault(text, error, place) from error
        except RecursionError as error:
            raise _too_deep(at, "") from error
        except ValueError as error:
            raise JsonFault(at, "holds a number of too many digits") from error
        if not is_within(value, NESTING_MAX):
            raise _too_deep(at, "")
        return Decoded(value, end, self._defect)

    def decode_line(self, line: bytes) -> Decoded:
        """Decode a line that holds one value and nothing else.

        Raises:
            JsonFault: it is not UTF-8, too deep, not JSON, or holds more than one value.
        """
        text = to_text(line)
        fault = depth_fault(text)
        if fault:
            raise fault
        found = self.decode(text, skip_white(text, 0))
        end = skip_white(text, found.end)
        if end != len(text):
            raise _goes_on(text, end)
        return found

    def _object(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) != len(items):
            counts = Counter(name for name, _ in items)
            self._defect = f"has the key {shown(counts.most_common(1)[0][0])} twice"
        return made

    def _constant(self, name: str) -> None:
        self._defect = f"holds {name}, which is not JSON"

    def _float(self, digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            self._defect = f"holds the number {shown(digits)}, which is too large"
        return value


def to_text(data: bytes) -> str:
    """Decode UTF-8.

    Raises:
        JsonFault: it is not, or it holds a NUL byte.
    """
    nul = data.find(b"\x00")
    if nul >= 0:
        raise JsonFault(
            nul, f"holds a NUL byte at byte {nul + 1}", "save the file as text in UTF-8"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"at byte {error.start + 1}"
        raise JsonFault(error.start, f"is not UTF-8 {place}", "save the file in UTF-8") from error


def depth_fault(text: str) -> JsonFault | None:
    """Say where lists and objects are nested deeper than `NESTING_MAX`, if they are."""
    if text.count("[") + text.count("{") <= NESTING_MAX:
        return None
    depth = 0
    for token in _BRACKETS.finditer(text):
        mark = token[0]
        if mark in {"[", "{"}:
            depth += 1
            if depth > NESTING_MAX:
                return _too_deep(token.start(), f" at character {token.start() + 1}")
        elif mark in {"]", "}"}:
            depth -= 1
    return None


def skip_white(text: str, at: int) -> int:
    """The first character from `at` on that is not JSON's white space."""
    found = _WHITE.match(text, at)
    return found.end() if found else at


def is_within(value: object, depth: int) -> bool:
    """Whether lists and objects are nested at most so deep."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(
        is_within(one, depth - 1) for one in inner if isinstance(one, dict | list)
    )


def _too_deep(at: int, where: str) -> JsonFault:
    words = f"is nested deeper than {NESTING_MAX}{where}"
    return JsonFault(at, words, "write messages as a flat list")


def _goes_on(text: str, end: int) -> JsonFault:
    words = f"goes on after its end, at character {end + 1}"
    if text[end] == ",":
        return JsonFault(end, words, "take the comma off: lines are not separated by commas")
    if text[end] in "{[":
        return JsonFault(end, words, "put each record on a line of its own")
    return JsonFault(end, words)


def _fault(text: str, error: json.JSONDecodeError, place: Place) -> JsonFault:
    ends = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())
    if ends:
        return JsonFault(
            error.pos,
            "ends in the middle",
            "write it again in full: the file was probably cut off here",
            may_go_on=True,
        )
    detail, remedy = f"{error.msg[:1].lower()}{error.msg[1:]}, not {text[error.pos]!r}", _REWRITE
    if _closes_after_comma(text, error.pos):
        detail, remedy = "a comma stands before a closing bracket", "take that comma off"
    line = error.lineno + place.lines
    column = error.colno + (place.columns if error.lineno == 1 else 0)
    where = f"line {line} column" if line > 1 else "column"
    words = f"is not JSON at {where} {column}: {detail}"
    return JsonFault(error.pos, words, remedy, may_go_on=error.pos >= len(text) - _LONGEST_MARK)


def _closes_after_comma(text: str, at: int) -> bool:
    """Python's versions differ in whether they point to the comma or behind it."""
    before = text[max(0, at - 64) : at].rstrip()
    return bool(_TRAILING.match(before[-1:] + text[at : at + 64]) or _TRAILING.match(text, at))
