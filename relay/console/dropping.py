"""Dropping a file: a plain S3 PUT, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from contracts import layout
from contracts.ledger import DropRecord
from contracts.model import Contract
from contracts.names import drop_id
from contracts.rejection import Rejection
from relay.console.control_plane import ControlPlane
from relay.console.errors import Conflict, TryAgain

_LOOK_EVERY_S = 0.5
_SILENCE_MAX_S = 180.0


class Dropped(Contract):
    """An object version that was put; `id` is the drop's."""

    id: str
    pipeline: str
    bucket: str
    key: str
    version_id: str


def put(plane: ControlPlane, file: Path, pipeline: str, name: str) -> Dropped:
    """Put a file below `incoming/`, like any S3 client does.

    Args:
        plane: whose bucket.
        file: what is put.
        pipeline: whose drop it is.
        name: what it is called there.
    """
    bucket, key = plane.outputs.bucket, f"{layout.INCOMING}{pipeline}/{name}"
    with file.open("rb") as body:
        answer = plane.s3.put_object(Bucket=bucket, Key=key, Body=body)
    version = answer["VersionId"]
    return Dropped(
        id=drop_id(bucket, key, version),
        pipeline=pipeline,
        bucket=bucket,
        key=key,
        version_id=version,
    )


def rejection_of(plane: ControlPlane, dropped: Dropped) -> Rejection | None:
    """The report on the object, if there is one."""
    rest = dropped.key.removeprefix(f"{layout.INCOMING}{dropped.pipeline}/")
    place = layout.rejection(dropped.pipeline, rest, dropped.version_id)
    body = plane.get(place)
    return None if body is None else Rejection.from_bytes(body, where=place)


def wait_for_run(
    plane: ControlPlane, dropped: Dropped, say: Callable[[str], None]
) -> str | Rejection:
    """Wait until the drop is in a run, or refused.

    Args:
        plane: where it was dropped.
        dropped: what.
        say: is told, once each, why it is still waited for.

    Returns:
        The run's id, or the report on the refused object.

    Raises:
        Conflict: its pipeline is paused.
        TryAgain: nothing was heard of it for three minutes.
    """
    put_at, told = time.monotonic(), ""
    while True:
        record = plane.logic.ledger.drops.get(dropped.id)
        if record and record.run:
            return record.run
        if record and record.status == "rejected":
            report = rejection_of(plane, dropped)
            if report is not None:
                return report
        why = _why(plane, dropped, record)
        if why != told and time.monotonic() - put_at > 1:
            say(why)
            told = why
        if record is None and time.monotonic() - put_at > _SILENCE_MAX_S:
            raise TryAgain(
                f"{dropped.key} is in the bucket, but intake has said nothing of it: look into "
                f"{plane.outputs.uploads_dead_letter_queue_url}"
            )
        time.sleep(_LOOK_EVERY_S)


def _why(plane: ControlPlane, dropped: Dropped, record: DropRecord | None) -> str:
    if record is None:
        return "waiting for intake"
    name = dropped.pipeline
    lease = plane.logic.ledger.runs.lease(name)
    if lease is None and plane.logic.ledger.pipelines.get(name).paused:
        raise Conflict(
            f"pipeline {name} is paused after failed runs, the drop waits: "
            f"`relay pipelines resume {name}`"
        )
    if lease is None:
        return "accepted"
    holder = plane.logic.ledger.runs.get(lease.run)
    if holder is not None and not holder.drops:
        return f"accepted; run {lease.run} is gathering drops"
    return f"accepted; waiting for its turn behind run {lease.run}"
