"""What the tests of the operator's tool share."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import moto
import pytest
from botocore.config import Config

from contracts import layout
from contracts.job import JobSpec
from contracts.model import canonical_json
from contracts.pipeline import Hardware
from relay.agent.doorbells_sqs import SqsDoorbells
from relay.agent.objects_s3 import S3Objects
from relay.agent.ports import Doorbell

BUCKET = "relay-tests"
RUN = "r260304-050607-abcdef"


class Impatient(SqsDoorbells):
    """The job queue, to a test that does not wait for messages."""

    def receive(self, most: int, wait_s: int) -> list[Doorbell]:
        return super().receive(most, 0)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty AWS in this process, and no way to a real one."""
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_CA_BUNDLE", "AWS_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with moto.mock_aws():
        yield


@pytest.fixture
def s3(aws: None) -> Any:
    """A versioned bucket's client."""
    client = boto3.client("s3", config=Config(retries={"max_attempts": 1}))
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return client


@pytest.fixture
def objects(s3: Any) -> S3Objects:
    return S3Objects(s3, BUCKET)


@pytest.fixture
def queue(aws: None) -> tuple[Any, str]:
    """An SQS client and the job queue's address."""
    client = boto3.client("sqs")
    return client, client.create_queue(QueueName="jobs")["QueueUrl"]


@pytest.fixture
def doorbells(queue: tuple[Any, str]) -> SqsDoorbells:
    return Impatient(*queue)


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
