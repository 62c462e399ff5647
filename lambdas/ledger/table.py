"""DynamoDB in plain values: numbers are int and float, a refused condition is False."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

from lambdas.adapters.service_errors import cancellation_reasons, code_of

if TYPE_CHECKING:
    from botocore.client import BaseClient

_READ = TypeDeserializer()
_WRITE = TypeSerializer()

CONFLICT_TRIES = 4
_FIRST_WAIT_S = 0.03
SMALLEST = 1e-128
LARGEST = 9.9e125
"""What a number of DynamoDB's can hold, and boto3 writes without loss."""

Plain = dict[str, Any]


class Write(NamedTuple):
    """One part of a transaction, ready for the client."""

    kind: str
    arguments: Plain


class Table:
    """Reads are strongly consistent; writes are conditional."""

    def __init__(self, client: BaseClient, name: str) -> None:
        self._client = client
        self.name = name

    def get(self, key: Mapping[str, str]) -> Plain | None:
        """An item, or None."""
        answer = self._client.get_item(TableName=self.name, Key=stored(key), ConsistentRead=True)
        return plain(answer["Item"]) if "Item" in answer else None

    def query(
        self,
        pk: str,
        prefix: str,
        *,
        limit: int | None = None,
        after: str | None = None,
        newest_first: bool = False,
    ) -> Iterator[Plain]:
        """Items of a partition whose sort key starts with `prefix`, those behind `after`."""
        condition = "pk = :pk AND begins_with(sk, :prefix)" if prefix else "pk = :pk"
        bound = {":pk": pk, ":prefix": prefix} if prefix else {":pk": pk}
        arguments: Plain = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": stored(bound),
            "ConsistentRead": True,
            "ScanIndexForward": not newest_first,
        }
        if after is not None:
            arguments["ExclusiveStartKey"] = stored({"pk": pk, "sk": after})
        if limit is not None:
            arguments["Limit"] = limit
        given = 0
        while True:
            answer = self._client.query(**arguments)
            for item in answer["Items"]:
                yield plain(item)
                given += 1
                if limit is not None and given >= limit:
                    return
            if "LastEvaluatedKey" not in answer:
                return
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def write(self, part: Write) -> bool:
        """Do one conditional write; False when its condition was refused."""
        call = {
            "Put": self._client.put_item,
            "Update": self._client.update_item,
            "Delete": self._client.delete_item,
        }[part.kind]
        try:
            call(**part.arguments)
        except ClientError as error:
            if code_of(error) == "ConditionalCheckFailedException":
                return False
            raise
        return True

    def transact(self, *parts: Write) -> bool:
        """Do all writes or none; False when any condition was refused.

        Another transaction on the same items is waited for a little: whoever takes a lease in a
        burst meets many others, and the SDK does not try that again.
        """
        for tries in count(1):
            try:
                self._client.transact_write_items(
                    TransactItems=[{part.kind: part.arguments} for part in parts]
                )
            except ClientError as error:
                reasons = set(cancellation_reasons(error))
                if "ConditionalCheckFailed" in reasons:
                    return False
                if tries == CONFLICT_TRIES or reasons - {"None"} != {"TransactionConflict"}:
                    raise
            else:
                return True
            time.sleep(random.uniform(0.0, _FIRST_WAIT_S * 2.0**tries))  # noqa: S311 - a pause
        raise AssertionError("count() has no end")

    def put(self, key: Mapping[str, str], item: Mapping[str, Any]) -> Write:
        """Put an item where none is."""
        return Write(
            "Put",
            {
                "TableName": self.name,
                "Item": stored({**key, **item}),
                "ConditionExpression": "attribute_not_exists(pk)",
            },
        )

    def update(
        self,
        key: Mapping[str, str],
        *,
        set_: Mapping[str, Any] | None = None,
        add: Mapping[str, int] | None = None,
        when: str | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> Write:
        """Set and add attributes while `when` holds; names in `when` are written `#name`."""
        sets, adds = dict(set_ or {}), dict(add or {})
        clauses = []
        if sets:
            clauses.append("SET " + ", ".join(f"#{name} = :set_{name}" for name in sets))
        if adds:
            clauses.append("ADD " + ", ".join(f"#{name} :add_{name}" for name in adds))
        names = set(sets) | set(adds) | _names_in(when)
        bound = {f":set_{name}": value for name, value in sets.items()}
        bound |= {f":add_{name}": value for name, value in adds.items()}
        bound |= values or {}
        arguments: Plain = {
            "TableName": self.name,
            "Key": stored(key),
            "UpdateExpression": " ".join(clauses),
            "ExpressionAttributeNames": {f"#{name}": name for name in names},
            "ExpressionAttributeValues": stored(bound),
        }
        if when:
            arguments["ConditionExpression"] = when
        return Write("Update", arguments)

    def delete(
        self,
        key: Mapping[str, str],
        *,
        when: str | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> Write:
        """Delete an item while `when` holds."""
        arguments: Plain = {"TableName": self.name, "Key": stored(key)}
        if when:
            arguments["ConditionExpression"] = when
            arguments["ExpressionAttributeNames"] = {f"#{n}": n for n in _names_in(when)}
            arguments["ExpressionAttributeValues"] = stored(values or {})
        return Write("Delete", arguments)

    def check(self, key: Mapping[str, str], *, when: str, values: Mapping[str, Any]) -> Write:
        """Demand of another item, within a transaction, that `when` holds."""
        return Write(
            "ConditionCheck",
            {
                "TableName": self.name,
                "Key": stored(key),
                "ConditionExpression": when,
                "ExpressionAttributeNames": {f"#{name}": name for name in _names_in(when)},
                "ExpressionAttributeValues": stored(values),
            },
        )


def _names_in(expression: str | None) -> set[str]:
    return set(re.findall(r"#(\w+)", expression or ""))


def stored(values: Mapping[str, Any]) -> Plain:
    """Plain values as DynamoDB's typed ones."""
    return {name: _WRITE.serialize(_without_floats(value)) for name, value in values.items()}


def plain(item: Mapping[str, Any]) -> Plain:
    """DynamoDB's typed values as plain ones."""
    return {name: _without_decimals(_READ.deserialize(value)) for name, value in item.items()}


def _without_floats(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, float):
        return _decimal(value)
    if isinstance(value, Mapping):
        return {name: _without_floats(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_floats(part) for part in value]
    return value


def _decimal(value: float) -> Decimal:
    """The number, or the nearest that the table holds: a metric is not worth a lost report."""
    if abs(value) < SMALLEST:
        return Decimal(0)
    return Decimal(repr(max(-LARGEST, min(LARGEST, value))))


def _without_decimals(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: _without_decimals(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_decimals(part) for part in value]
    return value
