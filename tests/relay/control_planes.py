"""A control plane's parts in an embedded AWS, and what its ledger and bucket may hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from botocore.exceptions import ClientError
from job_objects import BUCKET
from stories import RUN, T0, record

from contracts import layout, ledger
from contracts.artifact import MANIFEST, ArtifactRef, FileEntry, Manifest
from contracts.ledger import DropRecord, RunRecord
from contracts.model import digest
from contracts.pipeline import Pipeline
from contracts.policy import PolicyVersion
from contracts.rejection import Rejection
from lambdas.ledger.ledger import Ledger
from lambdas.ledger.table import Table


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Stack(NamedTuple):
    s3: Any
    sfn: Any
    ledger: Ledger
    table: Table
    machine: str


Relay = Callable[..., Ended]


class CloudFormation:
    """Knows stacks by their outputs. (The embedded AWS has CloudFormation only as an extra.)"""

    def __init__(self) -> None:
        self.stacks: dict[str, dict[str, str]] = {}

    def describe_stacks(self, StackName: str) -> dict[str, Any]:
        if StackName not in self.stacks:
            said = {"Code": "ValidationError", "Message": f"{StackName} does not exist"}
            raise ClientError({"Error": said}, "DescribeStacks")
        outputs = [
            {"OutputKey": key, "OutputValue": value}
            for key, value in self.stacks[StackName].items()
        ]
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE", "Outputs": outputs}]}


def register(stack: Stack) -> Pipeline:
    pipeline = Pipeline.model_validate(
        {"name": "preferences", "rounds": [{"optimize": {"algorithm": "dpo"}}]}
    )
    stack.s3.put_object(Bucket=BUCKET, Key=layout.pipeline("preferences"), Body=pipeline.to_bytes())
    return pipeline


def open_run(stack: Stack, **changed: Any) -> RunRecord:
    made = record(**changed)
    stack.ledger.pipelines.note("preferences")
    stack.table.write(stack.table.put(ledger.run_key(made.run), ledger.attributes(made)))
    stack.table.write(
        stack.table.put(ledger.listing_key(made.pipeline, made.run), {"run": made.run})
    )
    return made


def start_execution(stack: Stack, run: str = RUN) -> str:
    started = stack.sfn.start_execution(stateMachineArn=stack.machine, name=run, input="{}")
    arn: str = started["executionArn"]
    return arn


def pause(stack: Stack) -> None:
    key = ledger.pipeline_key("preferences")
    stack.table.write(stack.table.update(key, set_={"name": "preferences", "paused": True}))


def waiting_drop(**changed: Any) -> DropRecord:
    fields = {
        "id": "d" * 32,
        "pipeline": "preferences",
        "key": "incoming/preferences/x",
        "version_id": "v",
        "size": 3,
        "status": "waiting",
        "accepted_at": T0,
    }
    return DropRecord.model_validate({**fields, **changed})


def rejection(**changed: Any) -> Rejection:
    fields = {
        "bucket": BUCKET,
        "key": "incoming/preferences/x",
        "version_id": "v",
        "refused_by": "intake",
        "reason": "it is not JSON",
        "remedy": "upload JSON",
        "at": T0,
    }
    return Rejection.model_validate({**fields, **changed})


def publish(
    stack: Stack, files: dict[str, bytes], metrics: dict[str, float] | None = None
) -> PolicyVersion:
    prefix = layout.policy("preferences", RUN)
    for name, body in files.items():
        stack.s3.put_object(Bucket=BUCKET, Key=f"{prefix}{name}", Body=body)
    entries = tuple(
        FileEntry(path=name, size=len(body), sha256=digest(body)) for name, body in files.items()
    )
    manifest = Manifest(kind="checkpoint", run=RUN, step=1, files=entries).to_bytes()
    stack.s3.put_object(Bucket=BUCKET, Key=f"{prefix}{MANIFEST}", Body=manifest)
    version = PolicyVersion(
        pipeline="preferences",
        version=0,
        policy=ArtifactRef(
            kind="checkpoint", uri=layout.s3_uri(BUCKET, prefix), manifest=digest(manifest)
        ),
        run=RUN,
        parent=None,
        pipeline_version="0" * 64,
        drops=1,
        plan_key=layout.plan(RUN),
        metrics=metrics or {"end_accuracy": 0.9},
        created_at=T0,
    )
    assert stack.ledger.policies.publish(version)
    return version
