"""The real adapters, wired as in Lambda, on moto: a drop to a published policy."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import boto3
import pytest
from fakes import events
from fakes.agent import BETTER
from fakes.clock import FakeClock
from fakes.context import CONTEXT
from fakes.executions import FakeExecutions
from fakes.recipes import pipeline
from fakes.run_graph import RunGraph
from fakes.world import using

import lambdas.decide.handler
import lambdas.intake.handler
import lambdas.report.handler
import lambdas.submit.handler
import lambdas.sweep.handler
from contracts import layout
from contracts.artifact import MANIFEST, ArtifactRef, FileEntry, Manifest
from contracts.job import Claim, Exit, JobSpec
from contracts.model import digest
from contracts.plan import Plan
from contracts.result import PhaseResult
from lambdas.control_plane import ControlPlane
from lambdas.settings import Settings
from lambdas.wiring import build

BUCKET = "relay-tests"
KEY = "incoming/tone/zwei Wörter + 100%.jsonl"


@pytest.fixture
def plane(s3: Any, dynamodb: Any) -> ControlPlane:
    """A control plane of real adapters; Step Functions is the fake, as moto has no tokens."""
    queue = boto3.client("sqs").create_queue(QueueName="jobs")["QueueUrl"]
    settings = Settings.read(
        {
            "BUCKET": BUCKET,
            "LEDGER_TABLE": "ledger",
            "STATE_MACHINE_ARN": events.MACHINE,
            "JOB_QUEUE_URL": queue,
            "WORKSPACE_ROOT": "/workspace",
            "PROGRESS_INTERVAL_S": "15",
            "RUNNER": "queue",
            "SOMETHING_ELSE": "ignored",
        }
    )
    s3.put_object(Bucket=BUCKET, Key=layout.pipeline("tone"), Body=pipeline("tone").to_bytes())
    made = build(settings)
    return dataclasses.replace(made, executions=FakeExecutions(FakeClock()))


def finish(s3: Any, spec: JobSpec) -> str:
    """Do a job as a job does: files with checksums, manifest, result; the event's body."""
    artifacts: dict[str, ArtifactRef] = {}
    for name, prefix in (
        ("initial", layout.initial_policy(spec.pipeline, spec.run)),
        ("export", layout.policy(spec.pipeline, spec.run)),
    ):
        weights = f"{name} of {spec.run}".encode()
        entry = FileEntry(path="model.safetensors", size=len(weights), sha256=digest(weights))
        manifest = Manifest(kind="checkpoint", run=spec.run, step=1, files=(entry,)).to_bytes()
        for key, body in ((entry.path, weights), (MANIFEST, manifest)):
            s3.put_object(Bucket=BUCKET, Key=prefix + key, Body=body, ChecksumAlgorithm="SHA256")
        uri = layout.s3_uri(BUCKET, prefix)
        artifacts[name] = ArtifactRef(kind="checkpoint", uri=uri, manifest=digest(manifest))
    result = PhaseResult(
        **spec.model_dump(include={"run", "round", "phase", "attempt", "nonce"}),
        outcome="succeeded",
        artifacts=artifacts,
        metrics=BETTER,
        started_at=spec.deadline,
        ended_at=spec.deadline,
    )
    key = layout.result(spec.key)
    s3.put_object(Bucket=BUCKET, Key=key, Body=result.to_bytes(), IfNoneMatch="*")
    mark = Exit(how="succeeded", at=spec.deadline)
    s3.put_object(Bucket=BUCKET, Key=layout.exit_(spec.key), Body=mark.to_bytes())
    return events.created(BUCKET, key, "v", 100)


def test_a_drop_becomes_a_published_policy(s3: Any, plane: ControlPlane) -> None:
    executions = plane.executions
    assert isinstance(executions, FakeExecutions)
    sqs = boto3.client("sqs")
    queue = sqs.get_queue_url(QueueName="jobs")["QueueUrl"]
    graph = RunGraph(
        executions,
        FakeClock(),
        lambdas.decide.handler.handler,
        lambdas.submit.handler.handler,
    )
    with using(plane):
        version = s3.put_object(Bucket=BUCKET, Key=KEY, Body=b'{"a": 1}\n')["VersionId"]
        uploaded = events.batch(events.created(BUCKET, KEY, version, 9))
        for _ in range(2):
            answer = lambdas.intake.handler.handler(uploaded, CONTEXT)
            assert events.failed_in(answer) == []
        (run,) = executions.states
        for _ in range(20):
            graph.step(run)
            for message in sqs.receive_message(QueueUrl=queue).get("Messages", []):
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
                key = json.loads(message["Body"])["job"]
                body = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
                spec = JobSpec.from_bytes(body, where=key)
                claim = Claim(agent="test", at=spec.deadline)
                s3.put_object(Bucket=BUCKET, Key=layout.claim(spec.key), Body=claim.to_bytes())
                lambdas.sweep.handler.handler({}, CONTEXT)
                told = events.batch(finish(s3, spec))
                answer = lambdas.report.handler.handler(told, CONTEXT)
                assert events.failed_in(answer) == []
            if executions.states[run].status != "RUNNING":
                break
        ended = events.batch(events.execution_ended(run, "SUCCEEDED"))
        lambdas.report.handler.handler(ended, CONTEXT)
        swept = lambdas.sweep.handler.handler({}, CONTEXT)
    assert swept == {"pipelines": 1, "jobs": 1, "failed": 0}
    record = plane.ledger.runs.get(run)
    assert record is not None
    assert (record.status, record.drops, record.version) == ("PUBLISHED", 1, 1)
    assert plane.ledger.runs.lease("tone") is None
    assert [it.version for it in plane.ledger.policies.all("tone")] == [0, 1]
    assert {it.status for it in plane.ledger.attempts.of_run(run)} == {"SUCCEEDED"}
    assert s3.head_object(Bucket=BUCKET, Key=layout.current_policy("tone"))


def test_a_sealed_folder_is_planned_and_settled_side_by_side(s3: Any, plane: ControlPlane) -> None:
    executions = plane.executions
    assert isinstance(executions, FakeExecutions)
    graph = RunGraph(
        executions, FakeClock(), lambdas.decide.handler.handler, lambdas.submit.handler.handler
    )
    place = layout.set_folder("tone", "day")
    names = [f"part-{number:03d} ü+%.jsonl" for number in range(40)]
    bodies = []
    for name in [*names, names[0]]:
        version = s3.put_object(Bucket=BUCKET, Key=place + name, Body=b"{}")["VersionId"]
        bodies.append(events.created(BUCKET, place + name, version, 2))
    seal = s3.put_object(Bucket=BUCKET, Key=layout.seal("tone", "day"), Body=b"")["VersionId"]
    bodies = [*bodies[:10], events.created(BUCKET, layout.seal("tone", "day"), seal, 0)]
    with using(plane):
        answer = lambdas.intake.handler.handler(events.batch(*bodies), CONTEXT)
        assert events.failed_in(answer) == []
        (run,) = executions.states
        graph.step(run)
        assert lambdas.sweep.handler.handler({}, CONTEXT)["failed"] == 0
    body = s3.get_object(Bucket=BUCKET, Key=layout.plan(run))["Body"].read()
    (drop,) = Plan.from_bytes(body, where="plan").drops
    assert [one.key for one in drop.objects or ()] == [place + name for name in names]
    known = plane.ledger.sets.objects("tone", "day").values()
    assert sorted(it.status for it in known) == ["planned"] * 40 + ["rejected"]
    assert plane.ledger.sets.unsealed_of("tone", limit=9) == []


def test_every_item_but_leases_and_cursors_expires(s3: Any, plane: ControlPlane) -> None:
    with using(plane):
        version = s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"{}")["VersionId"]
        body = events.batch(events.created(BUCKET, KEY, version, 2))
        lambdas.intake.handler.handler(body, CONTEXT)
    items = boto3.client("dynamodb").scan(TableName="ledger")["Items"]
    lasting = {item["sk"]["S"] for item in items if "expires_at" not in item}
    assert lasting == {"LEASE", "tone"}
    assert all(int(item["expires_at"]["N"]) > 0 for item in items if "expires_at" in item)


@pytest.mark.parametrize("missing", ["BUCKET", "LEDGER_TABLE", "RUNNER"])
def test_a_function_without_a_setting_says_which(missing: str) -> None:
    environ = {
        "BUCKET": "b",
        "LEDGER_TABLE": "t",
        "STATE_MACHINE_ARN": "a",
        "JOB_QUEUE_URL": "q",
        "WORKSPACE_ROOT": "/w",
        "PROGRESS_INTERVAL_S": "15",
        "RUNNER": "queue",
    }
    del environ[missing]
    with pytest.raises(ValueError, match=missing.lower()):
        Settings.read(environ)
