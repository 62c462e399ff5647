"""Roles are enforced while the line runs: each misses the one right that is taken from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError
from deployed import Line, until

from contracts.ledger import RUN_ENDED

pytestmark = [pytest.mark.line, pytest.mark.emulator]


def resource(line: Line, kind: str, part: str) -> str:
    """Physical id of the stack's one resource of a kind whose logical id begins so."""
    listed = line.client("cloudformation").describe_stack_resources(StackName="Relay")
    (found,) = [
        one["PhysicalResourceId"]
        for one in listed["StackResources"]
        if one["ResourceType"] == kind and one["LogicalResourceId"].startswith(part)
    ]
    return str(found)


@contextmanager
def without(line: Line, function: str, *actions: str) -> Iterator[None]:
    """Take actions away from a function's role by a denial, and give them back."""
    role = resource(line, "AWS::IAM::Role", f"{function}Role")
    denial = {"Effect": "Deny", "Action": list(actions), "Resource": "*"}
    iam = line.client("iam")
    iam.put_role_policy(
        RoleName=role,
        PolicyName="taken-away",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [denial]}),
    )
    try:
        yield
    finally:
        iam.delete_role_policy(RoleName=role, PolicyName="taken-away")


def log_of(line: Line, function: str) -> str:
    group = resource(line, "AWS::Logs::LogGroup", f"{function}Log")
    events = line.client("logs").filter_log_events(logGroupName=group)["events"]
    return "\n".join(event["message"] for event in events)


def denied(line: Line, function: str, action: str) -> bool:
    text = log_of(line, function)
    return "AccessDenied" in text and action in text


def test_intake_may_not_start_runs_without_the_right_to(line: Line):
    line.register("no-start")
    start = "states:StartExecution"
    with without(line, "Intake", start), without(line, "Sweep", start):
        line.put("incoming/no-start/pairs.jsonl")
        until(lambda: denied(line, "Intake", start), 30)
        (run,) = line.runs("no-start")
        assert run.status == "STARTING"
    with line.stand_in():
        (run,) = line.ended("no-start", within_s=120)
    assert run.status == "PUBLISHED", "sweep starts what intake could not"


@pytest.mark.parametrize(
    ("function", "action", "state"),
    [
        ("Submit", "sqs:SendMessage", "Collect rollouts"),
        ("Decide", "s3:PutObject", "Plan run"),
    ],
)
def test_a_run_fails_where_its_function_lacks_a_right(
    line: Line, function: str, action: str, state: str
):
    name = line.register(f"no-{function.lower()}")
    with without(line, function, action):
        line.put(f"incoming/{name}/pairs.jsonl")
        run = line.ended(name, within_s=90)[0]
    assert run.status == "FAILED"
    assert "AccessDenied" in run.reason
    history = line.client("stepfunctions").get_execution_history(
        executionArn=line.execution(run.run), maxResults=1000
    )["events"]
    entered = [
        e["stateEnteredEventDetails"]["name"] for e in history if "stateEnteredEventDetails" in e
    ]
    assert entered[-2:] == [state, "Run failed"]


def test_report_may_not_answer_a_phase_without_the_right_to(line: Line):
    line.register("no-answer")
    with line.stand_in():
        with without(line, "Report", "states:SendTaskSuccess"):
            line.put("incoming/no-answer/pairs.jsonl")
            until(lambda: denied(line, "Report", "states:SendTaskSuccess"), 40)
            (run,) = line.runs("no-answer")
            assert run.status not in RUN_ENDED
        (run,) = line.ended("no-answer", within_s=150)
    assert run.status == "PUBLISHED", "sweep answers what report could not"


def test_sweep_says_what_it_could_not_see_to(line: Line):
    line.register("swept")
    with line.stand_in():
        line.put("incoming/swept/pairs.jsonl")
        line.ended("swept")
    function = resource(line, "AWS::Lambda::Function", "SweepFunction")

    def swept() -> dict[str, Any]:
        answer = line.client("lambda").invoke(FunctionName=function)
        return json.loads(answer["Payload"].read())

    with without(line, "Sweep", "dynamodb:Query"):
        assert "AccessDenied" in swept()["errorMessage"]
    assert swept()["failed"] == 0


@pytest.mark.parametrize(
    ("role", "key"),
    [
        ("JobRoleArn", "incoming/someone/pairs.jsonl"),
        ("JobRoleArn", "policies/someone/current.json"),
        ("JobRoleArn", "runs/r261201-000000-aaaaaa/plan.json"),
        ("AgentRoleArn", "policies/someone/model.bin"),
        ("AgentRoleArn", "runs/r261201-000000-aaaaaa/plan.json"),
    ],
)
def test_jobs_and_agents_may_not_write_what_is_not_theirs(line: Line, role: str, key: str):
    s3 = as_role(line, line.outputs[role]).client("s3")
    s3.put_object(Bucket=line.bucket, Key="runs/r261201-000000-aaaaaa/1-collect-1/a", Body=b"")
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.put_object(Bucket=line.bucket, Key=key, Body=b"")


def as_role(line: Line, arn: str) -> Any:
    got = line.client("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
    return line.session.acting_as(got)
