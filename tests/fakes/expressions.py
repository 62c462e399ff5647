"""DynamoDB's condition expressions, as far as the ledger uses them; anything else is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_MISSING = object()
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
_EXISTS = re.compile(r"attribute_(not_)?exists\((\S+)\)")
_IN = re.compile(r"(\S+) IN \((.+)\)")
_BINARY = re.compile(r"(\S+) (=|<>|<|>) (:\w+)")


def holds(
    expression: str, names: Mapping[str, str], values: Mapping[str, Any], item: Mapping[str, Any]
) -> bool:
    """Whether a condition of ANDs within ORs holds for an item; an absent one is empty."""
    return any(
        all(_atom(part.strip(), names, values, item) for part in branch.split(" AND "))
        for branch in expression.split(" OR ")
    )


def check_use(arguments: Mapping[str, Any]) -> None:
    """AWS refuses names and values that no expression uses, and those that are not given."""
    text = " ".join(v for k, v in arguments.items() if k.endswith("Expression"))
    names = set(arguments.get("ExpressionAttributeNames", {}))
    values = set(arguments.get("ExpressionAttributeValues", {}))
    assert set(re.findall(r"#\w+", text)) == names, (text, names)
    assert set(re.findall(r":\w+", text)) == values, (text, values)


def _atom(
    text: str, names: Mapping[str, str], values: Mapping[str, Any], item: Mapping[str, Any]
) -> bool:
    if found := _EXISTS.fullmatch(text):
        absent = _at(found[2], names, item) is _MISSING
        return absent == bool(found[1])
    if found := _IN.fullmatch(text):
        listed = [values[name.strip()] for name in found[2].split(",")]
        return _at(found[1], names, item) in listed
    found = _BINARY.fullmatch(text)
    assert found, f"no condition that this fake knows: {text!r}"
    left = _at(found[1], names, item)
    right = values[found[3]]
    # DynamoDB compares values of one type only; whatever is absent compares as false.
    if left is _MISSING or isinstance(left, str) != isinstance(right, str):
        return found[2] == "<>"
    return _COMPARE[found[2]](left, right)


def _at(path: str, names: Mapping[str, str], item: Mapping[str, Any]) -> Any:
    value: Any = item
    for step in path.split("."):
        name = names[step] if step.startswith("#") else step
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value
