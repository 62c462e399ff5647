"""S3 notifications as they arrive in a queue's message."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

from contracts.errors import ContractBroken

TEST_EVENT = "s3:TestEvent"


class ObjectCreated(NamedTuple):
    """One created object version; the key is decoded."""

    bucket: str
    key: str
    version_id: str
    size: int


def read_body(body: str) -> dict[str, Any]:
    """A message's JSON object.

    Raises:
        ContractBroken: it is none.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ContractBroken(f"the message is not JSON: {body[:80]!r}") from error
    if not isinstance(value, dict):
        raise ContractBroken(f"the message is no JSON object: {body[:80]!r}")
    return value


def created_objects(body: dict[str, Any]) -> list[ObjectCreated]:
    """The created objects that a notification tells of; none for S3's own test event.

    Raises:
        ContractBroken: it is no S3 notification.
    """
    if body.get("Event") == TEST_EVENT:
        return []
    records = body.get("Records")
    if not isinstance(records, list) or not records:
        raise ContractBroken(f"no S3 notification: it has the fields {sorted(body)[:10]}")
    return [_created(record) for record in records]


def _created(record: dict[str, Any]) -> ObjectCreated:
    try:
        entity = record["s3"]["object"]
        return ObjectCreated(
            bucket=record["s3"]["bucket"]["name"],
            key=unquote_plus(entity["key"]),
            version_id=entity.get("versionId") or "null",
            size=int(entity.get("size", 0)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ContractBroken(f"an S3 record lacks {error}") from error
