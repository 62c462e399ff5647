"""A deployed control plane, with or without Ray and agent, as a test sees it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import psutil
from botocore.config import Config
from stand_in import StandIn

from contracts import layout, ledger
from contracts.ledger import AttemptRecord, RunRecord
from contracts.pipeline import Pipeline
from lambdas.ledger.ledger import Ledger
from lambdas.ledger.table import Table
from relay.console.local_stack import settings_for
from relay.local import stack
from relay.local.deployment import App
from relay.local.places import LocalPlaces

ROOT = Path(__file__).parents[2]
PAIR = b'{"prompt": "a", "chosen": "b", "rejected": "c"}\n'
SOURCES = ("cdk", "lambdas", "contracts", "cdk.json")


@dataclass
class Line:
    """A deployed control plane, as a test sees it."""

    places: LocalPlaces
    outputs: dict[str, str]
    session: Any

    def client(self, service: str) -> Any:
        return self.session.client(service)

    @property
    def bucket(self) -> str:
        return self.outputs["Bucket"]

    @property
    def ledger(self) -> Ledger:
        return Ledger(Table(self.client("dynamodb"), self.outputs["LedgerTable"]))

    def register(self, name: str, **fields: Any) -> str:
        recipe = {"name": name, "rounds": [{"optimize": {"algorithm": "dpo"}}], **fields}
        body = Pipeline.model_validate(recipe).to_bytes()
        self.client("s3").put_object(Bucket=self.bucket, Key=layout.pipeline(name), Body=body)
        return name

    def put(self, key: str, body: bytes = PAIR) -> str:
        answer = self.client("s3").put_object(Bucket=self.bucket, Key=key, Body=body)
        return str(answer["VersionId"])

    def read(self, key: str) -> bytes:
        return bytes(self.client("s3").get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def runs(self, pipeline: str) -> list[RunRecord]:
        table = Table(self.client("dynamodb"), self.outputs["LedgerTable"])
        listed = table.query(f"PIPELINE#{pipeline}", "RUN#")
        found = [self.ledger.runs.get(item["run"]) for item in listed]
        return [run for run in found if run is not None]

    def attempts(self, run: str) -> list[AttemptRecord]:
        return self.ledger.attempts.of_run(run)

    def ended(self, pipeline: str, count: int = 1, within_s: float = 60) -> list[RunRecord]:
        """Wait until the pipeline has `count` ended runs and its lease is free."""

        def all_ended() -> list[RunRecord] | None:
            runs = self.runs(pipeline)
            over = [run for run in runs if run.status in ledger.RUN_ENDED]
            if len(over) >= count and self.ledger.runs.lease(pipeline) is None:
                return over
            return None

        return until(all_ended, within_s)

    def execution(self, run: str) -> str:
        machine = self.outputs["StateMachineArn"]
        return machine.replace(":stateMachine:", ":execution:") + f":{run}"

    def messages_left(self, queue: str) -> int:
        """Messages that wait in a queue or are being worked off."""
        attributes = self.client("sqs").get_queue_attributes(
            QueueUrl=self.outputs[queue], AttributeNames=["All"]
        )["Attributes"]
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(attributes[name]) for name in names)

    def stand_in(self, **how: Any) -> StandIn:
        return StandIn(self.session, self.bucket, self.outputs["JobQueueUrl"], **how)


def until(look: Callable[[], Any], within_s: float, every_s: float = 0.2) -> Any:
    """The first truthy answer; fails when there is none in time."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if answer := look():
            return answer
        time.sleep(every_s)
    raise AssertionError(f"not within {within_s} s: {look}")


class Session:
    """boto3 clients that point at the embedded AWS, whatever the shell's settings are."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._clients: dict[str, Any] = {}
        self._turn = threading.Lock()

    def client(self, service: str, **fields: Any) -> Any:
        with self._turn:
            if service not in self._clients:
                self._clients[service] = self._connect(service, fields)
            return self._clients[service]

    def acting_as(self, credentials: dict[str, str]) -> Session:
        """The same place, with a role's temporary credentials."""
        return Session(
            {
                **self._environment,
                "AWS_ACCESS_KEY_ID": credentials["AccessKeyId"],
                "AWS_SECRET_ACCESS_KEY": credentials["SecretAccessKey"],
                "AWS_SESSION_TOKEN": credentials["SessionToken"],
            }
        )

    def _connect(self, service: str, fields: dict[str, Any]) -> Any:
        told = self._environment
        session = boto3.session.Session(
            aws_access_key_id=told["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=told["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=told.get("AWS_SESSION_TOKEN"),
            region_name=told["AWS_REGION"],
        )
        fields.setdefault("config", Config(retries={"mode": "standard", "max_attempts": 5}))
        return session.client(
            service,
            endpoint_url=told["AWS_ENDPOINT_URL"],
            verify=told["AWS_CA_BUNDLE"],
            **fields,
        )


def app_for(places: LocalPlaces, **context: Any) -> App:
    settled = {
        "workspace_root": str(places.workspace),
        "gather_s": 2,
        "progress_interval_s": 1,
        "removal": "destroy",
        "max_concurrency": 2,
        **context,
    }
    sources = [ROOT / name for name in SOURCES]
    return App(program=ROOT / "app.py", stack="Relay", context=settled, sources=sources)


@dataclass
class WholeLine(Line):
    """The line with its Ray and its agent."""

    def processes(self, *parts: str) -> list[psutil.Process]:
        """Processes whose command line has all the parts."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            command = " ".join(process.info["cmdline"] or [])
            if all(part in command for part in parts):
                found.append(process)
        return found

    def kill(self, *parts: str) -> None:
        victims = self.processes(*parts)
        assert victims, f"no process has {parts}"
        for victim in victims:
            victim.kill()
        psutil.wait_procs(victims, timeout=10)

    def bring_up(self) -> None:
        stack.up(self.places, settings_for(self.places, "Relay"))
