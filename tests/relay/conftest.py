"""What the tests of the operator's tool share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import moto
import pytest
from botocore.config import Config
from job_objects import BUCKET

from relay.agent.doorbells_sqs import SqsDoorbells
from relay.agent.objects_s3 import S3Objects
from relay.agent.ports import Doorbell


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
