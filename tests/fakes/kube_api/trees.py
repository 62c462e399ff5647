"""Copies of JSON values, many times faster than `copy.deepcopy`, which knows more kinds."""

from __future__ import annotations

from typing import Any


class Shared(dict[str, Any]):
    """A part that nobody changes, as a schema of a megabyte: copies of the whole share it."""


def copied(value: Any) -> Any:
    """A copy that shares nothing that may change."""
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    if type(value) is list:
        return [copied(item) for item in value]
    return value
