"""One running MiniStack, with or without its gaps closed, and short ways to ask it things."""

import io
import json
import os
import sys
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from relay.local.deployment import client
from relay.local.emulator_process import start_emulator
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of, taken
from relay.local.processes import Processes

ROLE = "arn:aws:iam::123456789012:role/probe"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": ["lambda.amazonaws.com", "states.amazonaws.com"]},
        }
    ],
}


class Emulated:
    """Clients of one emulator and what the probes build there."""

    def __init__(self, connect: Callable[[str], object]) -> None:
        self._connect, self._clients, self._lock = connect, {}, threading.Lock()
        with suppress(self("iam").exceptions.EntityAlreadyExistsException):
            self("iam").create_role(RoleName="probe", AssumeRolePolicyDocument=json.dumps(TRUST))

    def __call__(self, service: str) -> Any:
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._connect(service)
            return self._clients[service]

    def function(self, source: str, **settings: object) -> str:
        """Make a function from source with a `handler`; returns its name once it is active."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("index.py", source)
        name = f"f-{uuid.uuid4().hex[:8]}"
        self("lambda").create_function(
            FunctionName=name,
            Runtime="python3.13",
            Role=ROLE,
            Handler="index.handler",
            Code={"ZipFile": packed.getvalue()},
            **{"Timeout": 20, **settings},
        )
        self("lambda").get_waiter("function_active_v2").wait(FunctionName=name)
        return name

    def invoke(self, function: str, event: object = None) -> dict[str, object]:
        answer = self("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
        return json.load(answer["Payload"])

    def queue(self) -> str:
        return self("sqs").create_queue(QueueName=f"q-{uuid.uuid4().hex[:8]}")["QueueUrl"]

    def receive(self, queue: str, patience_s: float = 6.0) -> dict[str, object] | None:
        """The next message's body, or None."""
        answer = self("sqs").receive_message(QueueUrl=queue, WaitTimeSeconds=int(patience_s))
        messages = answer.get("Messages", [])
        return json.loads(messages[0]["Body"]) if messages else None

    def machine(self, states: dict[str, object], **fields: object) -> str:
        """Make a state machine that starts at the first of the states."""
        definition = {"StartAt": next(iter(states)), "States": states, **fields}
        return self("stepfunctions").create_state_machine(
            name=f"m-{uuid.uuid4().hex[:8]}", definition=json.dumps(definition), roleArn=ROLE
        )["stateMachineArn"]

    def start(self, machine: str, given: object = None, **fields: object) -> str:
        return self("stepfunctions").start_execution(
            stateMachineArn=machine, input=json.dumps(given or {}), **fields
        )["executionArn"]

    def run(
        self,
        states: dict[str, object],
        given: object = None,
        patience_s: float = 5.0,
        **fields: object,
    ) -> dict[str, object]:
        """Start an execution and describe it when it has ended, or when patience has."""
        return self.settled(self.start(self.machine(states, **fields), given), patience_s)

    def settled(self, execution: str, patience_s: float = 5.0) -> dict[str, object]:
        give_up_at = time.monotonic() + patience_s
        while True:
            found = self("stepfunctions").describe_execution(executionArn=execution)
            if found["status"] != "RUNNING" or time.monotonic() > give_up_at:
                return found
            time.sleep(0.1)

    def events(self, execution: str) -> list[dict[str, object]]:
        return self("stepfunctions").get_execution_history(executionArn=execution)["events"]


def waiting(queue: str, **fields: object) -> dict[str, object]:
    """A task state that sends its token to a queue and waits."""
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": queue, "MessageBody": {"token.$": "$$.Task.Token"}},
        "TimeoutSeconds": 30,
        "End": True,
        **fields,
    }


def calling(function: str, **fields: object) -> dict[str, object]:
    """A task state that calls a function."""
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": function, "Payload.$": "$"},
        "TimeoutSeconds": 30,
        "End": True,
        **fields,
    }


@contextmanager
def closed_emulator(root: Path) -> Iterator[Emulated]:
    """The emulator as the local stack runs it."""
    places = LocalPlaces(root)
    places.make()
    processes, port = Processes(places), ports_of(places).emulator
    start_emulator(places, processes, port)
    try:
        yield Emulated(lambda service: client(places, port, service))
    finally:
        processes.stop("emulator")


@contextmanager
def plain_emulator(root: Path) -> Iterator[Emulated]:
    """MiniStack as it is released."""
    places = LocalPlaces(root)
    places.make()
    port, scratch = ports_of(places).emulator, str(places.scratch)
    environment = {
        "PATH": os.environ["PATH"],
        "TMPDIR": scratch,
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_ACCOUNT_ID": "123456789012",
        "AUTH": "true",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "1",
        "STATE_DIR": str(places.state),
        "DOCKER_HOST": f"unix://{scratch}/no-docker.sock",
    }
    processes = Processes(places)
    processes.start("plain", [sys.executable, "-m", "ministack.app"], environment)
    give_up_at = time.monotonic() + 30
    while not taken(port) and time.monotonic() < give_up_at:
        time.sleep(0.05)
    try:
        yield Emulated(lambda service: plain_client(port, service))
    finally:
        processes.stop("plain")


def plain_client(port: int, service: str) -> Any:
    return boto3.session.Session().client(
        service,
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"max_attempts": 1}),
    )
