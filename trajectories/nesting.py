"""JSON within text: decoded only as deep as JSON in a file may nest."""

from __future__ import annotations

import json
from typing import Any

from trajectories.strict_json import NESTING_MAX, is_within


class TooDeep(ValueError):
    """Lists and objects are nested too deeply."""


def decode_text(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Decode JSON that stands in a text, such as the arguments of a call.

    Raises:
        TooDeep: it nests so deep that whoever walks it might not come back.
        ValueError: it is no JSON.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise TooDeep from error
    if not is_within(value, NESTING_MAX):
        raise TooDeep
    return value
