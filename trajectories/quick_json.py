"""The fast way through a line of JSON; what it is not sure of goes to the strict decoder."""

from __future__ import annotations

import re
from typing import Any

import orjson

from trajectories.strict_json import NESTING_MAX

_COLONS = re.compile(rb':(?<=[" \t\r]:)')
"""Colons behind a quote or white space: at least one for each key, and fast to find."""
_KEY_ENDS = re.compile(rb'"(?:(?<!\\")|(?<=\\\\"))[ \t\r\n]*:')
"""Quotes before a colon, but for those that one backslash escapes: fewer, but slower to find."""
_INTEGERS_END = float(2**63)
"""A float from here on may have been an integer that was too long for the fast library."""


class _Unsure(Exception):
    """The strict decoder has to look."""


def decode_quickly(line: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Decode a line of one JSON value, if it is certain that strict decoding gives the same.

    The library keeps the last of an object's equal keys, so keys are counted: as many in the
    value as there are places in the text that could end one means that none was twice.

    Returns:
        The value, or None for what the strict decoder has to look at (and for a bare null).
    """
    try:
        value = orjson.loads(line)
        keys = _keys(value, NESTING_MAX)
    except (orjson.JSONDecodeError, _Unsure):
        return None
    certain = any(len(places.findall(line)) == keys for places in (_COLONS, _KEY_ENDS))
    return value if certain else None


def _keys(value: object, depth: int) -> int:
    """Keys of all objects in it."""
    kind = type(value)
    if kind is dict:
        inner = value.values()  # type: ignore[attr-defined]
        keys = len(inner)
    elif kind is list:
        inner, keys = value, 0
    else:
        inner, keys = (value,), 0
    if not depth and kind in {dict, list}:
        raise _Unsure
    for one in inner:
        of = type(one)
        if of is dict or of is list:
            keys += _keys(one, depth - 1)
        elif of is float and not -_INTEGERS_END < one < _INTEGERS_END:
            raise _Unsure
    return keys
