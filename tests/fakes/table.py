"""The ledger's table in memory; the contract test runs on it and on moto's DynamoDB alike."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from fakes.expressions import check_use, holds
from lambdas.ledger.table import Plain, Table, Write, plain

_ITEM_BYTES_MAX = 400 * 1024
_PARTS_MAX = 100
_SET = re.compile(r"(#\w+) = (:\w+)")


class FakeTable(Table):
    """Builds the same writes as the real one, and does them on a dictionary."""

    def __init__(self) -> None:
        self.name = "fake"
        self.items: dict[tuple[str, str], Plain] = {}

    def get(self, key: Any) -> Plain | None:
        return copy.deepcopy(self.items.get((key["pk"], key["sk"])))

    def query(
        self,
        pk: str,
        prefix: str,
        *,
        limit: int | None = None,
        after: str | None = None,
        newest_first: bool = False,
    ) -> Iterator[Plain]:
        keys = sorted(
            (key for key in self.items if key[0] == pk and key[1].startswith(prefix)),
            key=lambda key: key[1].encode(),
            reverse=newest_first,
        )
        if after is not None:
            assert not newest_first
            keys = [key for key in keys if key[1].encode() > after.encode()]
        return iter([copy.deepcopy(self.items[key]) for key in keys[:limit]])

    def write(self, part: Write) -> bool:
        return self.transact(part)

    def transact(self, *parts: Write) -> bool:
        assert 0 < len(parts) <= _PARTS_MAX
        keys = [_key(part) for part in parts]
        assert len(set(keys)) == len(keys), "one transaction, two operations on one item"
        if not all(self._allowed(part, key) for part, key in zip(parts, keys, strict=True)):
            return False
        for part, key in zip(parts, keys, strict=True):
            self._do(part, key)
        return True

    def _allowed(self, part: Write, key: tuple[str, str]) -> bool:
        arguments = part.arguments
        check_use(arguments)
        condition = arguments.get("ConditionExpression")
        if condition is None:
            return True
        values = plain(arguments.get("ExpressionAttributeValues", {}))
        names = arguments.get("ExpressionAttributeNames", {})
        return holds(condition, names, values, self.items.get(key, {}))

    def _do(self, part: Write, key: tuple[str, str]) -> None:
        if part.kind == "Delete":
            self.items.pop(key, None)
        elif part.kind == "Put":
            self.items[key] = _sized(plain(part.arguments["Item"]))
        elif part.kind == "Update":
            self.items[key] = _sized(_updated(self.items.get(key), part.arguments))


def _key(part: Write) -> tuple[str, str]:
    given = plain(part.arguments.get("Key") or part.arguments["Item"])
    assert given["pk"], "a key's attributes must not be empty"
    assert given["sk"], "a key's attributes must not be empty"
    return given["pk"], given["sk"]


def _updated(item: Plain | None, arguments: Plain) -> Plain:
    expression = arguments["UpdateExpression"]
    assert expression.startswith("SET "), f"no update that this fake knows: {expression!r}"
    names = arguments["ExpressionAttributeNames"]
    values = plain(arguments["ExpressionAttributeValues"])
    changed = dict(item) if item is not None else plain(arguments["Key"])
    for name, value in _SET.findall(expression):
        changed[names[name]] = values[value]
    return changed


def _sized(item: Plain) -> Plain:
    assert len(repr(item).encode()) < _ITEM_BYTES_MAX, "an item is larger than DynamoDB takes"
    return item
