"""What the tests of the operator's tool share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import moto
import pytest
from agents import HandClock, Keeper
from botocore.config import Config
from control_planes import CloudFormation, Ended, Stack
from job_objects import BUCKET
from process_ray import ProcessRay, sleeper

from lambdas.ledger.ledger import Ledger
from lambdas.ledger.table import Table
from relay.__main__ import main
from relay.agent import agent as agent_module
from relay.agent.agent import Agent, mark_of
from relay.agent.doorbells_sqs import SqsDoorbells
from relay.agent.in_flight import InFlight
from relay.agent.objects_s3 import S3Objects
from relay.agent.ports import Doorbell
from relay.agent.processes_psutil import LocalProcesses
from relay.agent.ray_health import RayHealth

ROLE = "arn:aws:iam::123456789012:role/any"


class Impatient(SqsDoorbells):
    """The job queue, to a test that does not wait for messages."""

    def receive(self, most: int, wait_s: int) -> list[Doorbell]:
        return super().receive(most, 0)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty AWS in this process, and no way to a real one."""
    for name in (
        "AWS_ENDPOINT_URL",
        "AWS_REGION",
        "AWS_PROFILE",
        "AWS_CA_BUNDLE",
        "AWS_CONFIG_FILE",
    ):
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


@pytest.fixture
def ray() -> Iterator[ProcessRay]:
    ray = ProcessRay()
    jobs = ray.jobs
    yield ray
    ray.jobs = {**jobs, **ray.jobs}
    ray.clear()


@pytest.fixture
def make_agent(
    objects: S3Objects,
    doorbells: SqsDoorbells,
    ray: ProcessRay,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Agent]:
    """A new agent on the same folder each time, as after a restart; jobs run for a minute."""
    monkeypatch.setattr(
        agent_module, "command_of", lambda spec: sleeper(60, 0, *mark_of(spec).split())
    )
    clock = HandClock()

    def make() -> Agent:
        return Agent(
            objects=objects,
            doorbells=doorbells,
            jobs=ray,
            processes=LocalProcesses(),
            health=RayHealth(ray, Keeper(ray), clock),
            in_flight=InFlight(tmp_path / "in-flight.json"),
            clock=clock,
            environment={"MARK": "job"},
            at_once=2,
        )

    return make


@pytest.fixture
def cloudformation(monkeypatch: pytest.MonkeyPatch) -> CloudFormation:
    made = CloudFormation()

    class Session(boto3.Session):
        def client(self, service: str, **given: Any) -> Any:
            return made if service == "cloudformation" else super().client(service, **given)

    monkeypatch.setattr("relay.console.control_plane.boto3.Session", Session)
    return made


@pytest.fixture
def stack(
    s3: Any, cloudformation: CloudFormation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Stack:
    """A stack by the name of Relay, found by itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RELAY_STACK", raising=False)
    monkeypatch.delenv("RELAY_LOCAL", raising=False)
    dynamodb, sfn = boto3.client("dynamodb"), boto3.client("stepfunctions")
    dynamodb.create_table(
        TableName="ledger",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    definition = json.dumps({"StartAt": "W", "States": {"W": {"Type": "Succeed"}}})
    machine = sfn.create_state_machine(name="Relay-runs", definition=definition, roleArn=ROLE)
    outputs = {
        "Bucket": BUCKET,
        "LedgerTable": "ledger",
        "StateMachineArn": machine["stateMachineArn"],
        "UploadsQueueUrl": "https://q/uploads",
        "UploadsDeadLetterQueueUrl": "https://q/uploads-dead",
        "ReportsQueueUrl": "https://q/reports",
        "ReportsDeadLetterQueueUrl": "https://q/reports-dead",
        "JobQueueUrl": "https://q/jobs",
        "JobRoleArn": ROLE,
        "AgentRoleArn": ROLE,
        "WorkspaceRoot": "/fsx/relay",
        "ProgressIntervalS": "15",
    }
    cloudformation.stacks["Relay"] = outputs
    table = Table(dynamodb, "ledger")
    return Stack(s3, sfn, Ledger(table), table, machine["stateMachineArn"])


@pytest.fixture
def relay(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run the command line, its output going to no terminal; how it ended and what it printed."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["relay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, out, err)

    return run
