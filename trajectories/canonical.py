"""The bytes that ids are digests of: those of `contracts.model.canonical_json`, made faster."""

from __future__ import annotations

from typing import Any

import orjson


def canonical(value: dict[str, Any] | list[dict[str, Any]]) -> bytes:
    """Canonical JSON of texts, lists and objects.

    Args:
        value: holds no float but those wrapped by `number`, whose exponents the two libraries
            write differently, and no integer beyond 64 bits.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def number(value: float) -> orjson.Fragment:
    """A float as `canonical_json` writes it."""
    return orjson.Fragment(repr(float(value)))
