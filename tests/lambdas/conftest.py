"""What the tests of the control plane share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import boto3
import moto
import pytest

# Powertools reads these when it is imported, which the tests' modules do.
os.environ["POWERTOOLS_LOG_LEVEL"] = "CRITICAL"
os.environ["POWERTOOLS_SERVICE_NAME"] = "relay"

from fakes.recipes import pipeline
from fakes.world import World, using

BUCKET = "relay-tests"


@pytest.fixture
def world() -> Iterator[World]:
    """An in-memory control plane with the pipeline `tone`, and handlers that work on it."""
    made = World()
    made.register(pipeline("tone"))
    with using(made.plane) as made.counted:
        yield made


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


@pytest.fixture(scope="session")
def table_properties(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The ledger's table as the synthesised template has it."""
    from app import use_bundled_node

    use_bundled_node()
    from aws_cdk import App, Stack
    from aws_cdk.assertions import Template

    from cdk.components.ledger import Ledger

    stack = Stack(App(outdir=str(tmp_path_factory.mktemp("cdk"))), "Ledger")
    Ledger(stack, "Ledger", retains=False, protects=False)
    (found,) = Template.from_stack(stack).find_resources("AWS::DynamoDB::Table").values()
    properties: dict[str, Any] = found["Properties"]
    return properties


@pytest.fixture
def dynamodb(aws: None, table_properties: dict[str, Any]) -> Any:
    """A client, and the table `ledger` made from the template."""
    client = boto3.client("dynamodb")
    client.create_table(
        TableName="ledger",
        **{
            name: table_properties[name]
            for name in ("KeySchema", "AttributeDefinitions", "BillingMode")
        },
    )
    return client


@pytest.fixture
def s3(aws: None) -> Any:
    """A client, and a versioned bucket."""
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return client
