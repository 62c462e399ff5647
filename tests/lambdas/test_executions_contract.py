"""Step Functions' adapter and its fake: late answers, burnt names, words of AWS."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from fakes.clock import FakeClock
from fakes.executions import FakeExecutions

from contracts.limits import CAUSE_MAX
from lambdas.adapters.executions_sfn import StepFunctions
from lambdas.ports import Executions

MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:Relay-runs"
EXECUTION = "arn:aws:states:us-east-1:123456789012:execution:Relay-runs:r1"
Answer = Callable[[Executions, str], bool]
ANSWERS: dict[str, Answer] = {
    "heartbeat": lambda it, token: it.heartbeat(token),
    "success": lambda it, token: it.succeed(token, b"{}"),
    "failure": lambda it, token: it.fail(token, "JobFailed", "why"),
}


@pytest.fixture
def stub(aws: None) -> Any:
    client = boto3.client("stepfunctions")
    with Stubber(client) as stubber:
        stubber.executions = StepFunctions(client, MACHINE)
        yield stubber


@pytest.fixture
def fake() -> FakeExecutions:
    made = FakeExecutions(FakeClock())
    made.start("tone", "r1")
    return made


def test_a_start_names_the_run_and_depends_on_no_time(stub: Any) -> None:
    expected = {
        "stateMachineArn": MACHINE,
        "name": "r1",
        "input": '{"pipeline":"tone","run":"r1"}',
    }
    stub.add_response("start_execution", {"executionArn": EXECUTION, "startDate": 0}, expected)
    stub.executions.start("tone", "r1")
    stub.add_client_error("start_execution", "ExecutionAlreadyExists")
    stub.executions.start("tone", "r1")
    stub.add_client_error("start_execution", "StateMachineDoesNotExist")
    with pytest.raises(Exception, match="StateMachineDoesNotExist"):
        stub.executions.start("tone", "r1")


@pytest.mark.parametrize("code", ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"])
@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_every_name_of_late_is_late_and_no_error(stub: Any, name: str, code: str) -> None:
    stub.add_client_error(f"send_task_{name}", code)
    assert not ANSWERS[name](stub.executions, "t")


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_throttling_is_an_error(stub: Any, name: str) -> None:
    stub.add_client_error(f"send_task_{name}", "ThrottlingException")
    with pytest.raises(Exception, match="ThrottlingException"):
        ANSWERS[name](stub.executions, "t")


def test_a_long_cause_is_cut(stub: Any) -> None:
    expected = {"taskToken": "t", "error": "JobFailed", "cause": "x" * CAUSE_MAX}
    stub.add_response("send_task_failure", {}, expected)
    assert stub.executions.fail("t", "JobFailed", "x" * (CAUSE_MAX + 500))


def described(status: str) -> dict[str, Any]:
    return {
        "executionArn": EXECUTION,
        "stateMachineArn": MACHINE,
        "startDate": 0,
        "status": status,
        "error": "JobFailed",
        "cause": "why",
    }


def test_a_description_is_of_the_runs_execution(stub: Any) -> None:
    asked = {"executionArn": EXECUTION}
    stub.add_response("describe_execution", described("FAILED"), asked)
    assert stub.executions.describe("r1") == ("FAILED", "JobFailed", "why")
    stub.add_response("describe_execution", described("PENDING_REDRIVE"), asked)
    assert stub.executions.describe("r1").status == "RUNNING"
    stub.add_client_error("describe_execution", "ExecutionDoesNotExist")
    assert stub.executions.describe("r1") is None


def test_the_fake_burns_names(fake: FakeExecutions) -> None:
    fake.end("r1", "FAILED", "JobFailed", "why")
    fake.start("tone", "r1")
    assert fake.describe("r1") == ("FAILED", "JobFailed", "why")
    with pytest.raises(AssertionError, match="another input"):
        fake.start("facts", "r1")


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_the_fake_hears_a_token_once(fake: FakeExecutions, name: str) -> None:
    token = fake.issue("r1")
    assert fake.heartbeat(token)
    assert fake.succeed(token, b"{}")
    assert not ANSWERS[name](fake, token)
    outcome = fake.tasks[token].outcome
    assert outcome is not None
    assert outcome.succeeded


@pytest.mark.parametrize("name", sorted(ANSWERS))
@pytest.mark.parametrize("how", ["expired", "ended"])
def test_the_fake_knows_late_tokens(fake: FakeExecutions, name: str, how: str) -> None:
    token = fake.issue("r1")
    if how == "expired":
        fake.expire(token)
    else:
        fake.end("r1", "ABORTED")
    assert not ANSWERS[name](fake, token)
    assert fake.tasks[token].outcome is None


def test_the_fake_is_stricter_than_aws(fake: FakeExecutions) -> None:
    token = fake.issue("r1")
    with pytest.raises(AssertionError, match="never issued"):
        fake.heartbeat("made up")
    with pytest.raises(json.JSONDecodeError):
        fake.succeed(token, b"no json")
    with pytest.raises(AssertionError):
        fake.succeed(token, b'"' + b"x" * 256 * 1024 + b'"')
    with pytest.raises(AssertionError):
        fake.fail(token, "e" * 257, "")
    fake.end("r1", "SUCCEEDED")
    with pytest.raises(AssertionError, match="does not end again"):
        fake.end("r1", "FAILED")
