"""Jobs as `submit` puts them: objects in the bucket, and a doorbell in the queue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import layout
from contracts.hardware import Hardware
from contracts.job import Exit, JobSpec, Stop
from contracts.model import canonical_json
from contracts.names import AttemptKey
from contracts.result import PhaseResult

BUCKET = "relay-tests"
RUN = "r260304-050607-abcdef"


def job_spec(**changed: Any) -> JobSpec:
    """A job of the run `RUN` that has an hour."""
    fields: dict[str, Any] = {
        "run": RUN,
        "pipeline": "preferences",
        "round": 1,
        "phase": "optimize",
        "attempt": 1,
        "nonce": "n" * 16,
        "bucket": BUCKET,
        "workspace": "/fsx/runs/x",
        "inputs": {},
        "last_round": True,
        "hardware": Hardware(),
        "deadline": datetime.now(UTC) + timedelta(hours=1),
        "progress_interval_s": 1.0,
    }
    return JobSpec(**{**fields, **changed})


def submit(spec: JobSpec, s3: Any, queue: tuple[Any, str]) -> None:
    """Put the job as `submit` does, and ring."""
    s3.put_object(Bucket=BUCKET, Key=layout.job(spec.key), Body=spec.to_bytes())
    ring(spec, queue)


def ring(spec: JobSpec, queue: tuple[Any, str]) -> None:
    client, url = queue
    body = canonical_json({"job": layout.job(spec.key)}).decode()
    client.send_message(QueueUrl=url, MessageBody=body)


def waiting(queue: tuple[Any, str]) -> int:
    """Messages in the queue, seen or not."""
    client, url = queue
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(found[name]) for name in names)


def read(s3: Any, key: str) -> bytes | None:
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=key).get("KeyCount", 0)
    body: bytes | None = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() if found else None
    return body


def exit_of(s3: Any, key: AttemptKey) -> Exit | None:
    body = read(s3, layout.exit_(key))
    return None if body is None else Exit.from_bytes(body, where="exit")


def result_of(s3: Any, key: AttemptKey) -> PhaseResult | None:
    body = read(s3, layout.result(key))
    return None if body is None else PhaseResult.from_bytes(body, where="result")


def stop(s3: Any, spec: JobSpec) -> None:
    """Put the wish that the job end."""
    mark = Stop(reason="the run was cancelled", at=datetime.now(UTC))
    s3.put_object(Bucket=BUCKET, Key=layout.stop(spec.key), Body=mark.to_bytes())
