"""Registering a pipeline: canonical JSON in the bucket, replaced only if nobody else did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from botocore.exceptions import ClientError

from contracts import layout
from contracts.model import Contract, digest
from contracts.pipeline import Pipeline
from relay.console.control_plane import ControlPlane
from relay.console.errors import Conflict

Outcome = Literal["registered", "updated", "unchanged"]
_ABSENT = {"NoSuchKey", "404"}
_CHANGED = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}


class Change(Contract):
    """One field that differs; None stands for a field that is not there."""

    field: str
    before: Any
    after: Any


class Applied(Contract):
    """What registering a pipeline came to."""

    name: str
    outcome: Outcome
    dry_run: bool
    version: str
    changes: tuple[Change, ...]


def apply(pipeline: Pipeline, plane: ControlPlane, *, dry_run: bool) -> Applied:
    """Register a pipeline, or say what registering it would change.

    Raises:
        Conflict: somebody else changed it at the same moment.
    """
    body, key = pipeline.to_bytes(), layout.pipeline(pipeline.name)
    there, etag = _stored(plane, key)
    outcome: Outcome = "registered" if there is None else "updated"
    if there == body:
        outcome = "unchanged"
    elif not dry_run:
        _put(plane, key, body, {"IfMatch": etag} if etag else {"IfNoneMatch": "*"})
    before = None if there is None else Pipeline.from_bytes(there, where=key)
    return Applied(
        name=pipeline.name,
        outcome=outcome,
        dry_run=dry_run,
        version=digest(body),
        changes=tuple(_changes(before, pipeline)) if before else (),
    )


def _stored(plane: ControlPlane, key: str) -> tuple[bytes | None, str | None]:
    try:
        answer = plane.s3.get_object(Bucket=plane.outputs.bucket, Key=key)
    except ClientError as error:
        if error.response["Error"]["Code"] in _ABSENT:
            return None, None
        raise
    return answer["Body"].read(), answer["ETag"]


def _put(plane: ControlPlane, key: str, body: bytes, condition: Mapping[str, str]) -> None:
    try:
        plane.s3.put_object(
            Bucket=plane.outputs.bucket,
            Key=key,
            Body=body,
            ContentType="application/json",
            **condition,
        )
    except ClientError as error:
        if error.response["Error"]["Code"] not in _CHANGED:
            raise
        raise Conflict(f"{key} was changed by somebody else meanwhile; look, then apply") from error


def _changes(before: Pipeline, after: Pipeline) -> Iterator[Change]:
    old = dict(_flat(before.model_dump(mode="json"), ""))
    new = dict(_flat(after.model_dump(mode="json"), ""))
    for field in sorted(old.keys() | new.keys()):
        if old.get(field) != new.get(field):
            yield Change(field=field, before=old.get(field), after=new.get(field))


def _flat(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    else:
        yield path, value
        return
    for name, part in parts:
        yield from _flat(part, f"{path}.{name}" if path else str(name))
