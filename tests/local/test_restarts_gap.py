"""An execution outlives the embedded AWS, however that ends; MiniStack as released fails it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from emulated import Emulated, calling, closed_emulator, plain_emulator, waiting

from relay.local.places import LocalPlaces
from relay.local.processes import Processes

pytestmark = pytest.mark.emulator

SAVED_AFTER_S = 2.5
"""Progress of executions is saved about a second after it happens."""


def line_of(first: str, second: str) -> dict[str, object]:
    """Two tasks that wait for their tokens, and what takes no time around them."""
    again = {"Variable": "$.ready", "BooleanEquals": False, "Next": "First"}
    return {
        "Begin": {"Type": "Pass", "Next": "Pause"},
        "Pause": {"Type": "Wait", "Seconds": 1, "Next": "First"},
        "First": {**step(first), "Next": "Ready?"},
        "Ready?": {"Type": "Choice", "Choices": [again], "Default": "Second"},
        "Second": {**step(second), "End": True},
    }


def step(queue: str) -> dict[str, object]:
    return {key: value for key, value in waiting(queue).items() if key != "End"}


def ended_by(number: signal.Signals, root: Path, name: str) -> None:
    processes = Processes(LocalPlaces(root))
    os.kill(processes.pid(name), number)
    while processes.alive(name):
        time.sleep(0.05)


def succeed(aws: Emulated, queue: str, output: str) -> None:
    token = aws.receive(queue)["token"]
    aws("stepfunctions").send_task_success(taskToken=token, output=output)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_execution_goes_on_where_it_was_with_its_token(
    tmp_path: Path, number: signal.Signals
) -> None:
    with closed_emulator(tmp_path) as aws:
        first, second = aws.queue(), aws.queue()
        execution = aws.start(aws.machine(line_of(first, second)))
        succeed(aws, first, '{"ready": false}')
        succeed(aws, first, '{"ready": true}')
        token = aws.receive(second)["token"]
        time.sleep(SAVED_AFTER_S)
        before = aws.events(execution)
        ended_by(number, tmp_path, "emulator")
    with closed_emulator(tmp_path) as aws:
        assert aws("stepfunctions").describe_execution(executionArn=execution)["status"] == (
            "RUNNING"
        )
        aws("stepfunctions").send_task_heartbeat(taskToken=token)
        aws("stepfunctions").send_task_success(taskToken=token, output='{"well": true}')
        found = aws.settled(execution)
        assert (found["status"], found["output"]) == ("SUCCEEDED", '{"well": true}')
        after = aws.events(execution)
        assert after[: len(before)] == before
        kinds = Counter(event["type"] for event in after)
        assert kinds["TaskStateEntered"] == kinds["TaskStateExited"] == 3
        assert aws.receive(second, patience_s=1) is None, "nothing is called a second time"


def test_an_execution_that_waits_out_a_restart_fails_with_its_patience(tmp_path: Path) -> None:
    with closed_emulator(tmp_path) as aws:
        queue = aws.queue()
        state = waiting(queue, HeartbeatSeconds=6)
        execution = aws.start(aws.machine({"Work": state}))
        aws.receive(queue)
        time.sleep(SAVED_AFTER_S)
        ended_by(signal.SIGKILL, tmp_path, "emulator")
    with closed_emulator(tmp_path) as aws:
        assert aws.settled(execution, patience_s=12)["error"] == "States.HeartbeatTimeout"


def test_a_stop_reaches_an_execution_that_was_taken_up_again(tmp_path: Path) -> None:
    with closed_emulator(tmp_path) as aws:
        queue = aws.queue()
        execution = aws.start(aws.machine({"Work": waiting(queue)}))
        token = aws.receive(queue)["token"]
        time.sleep(SAVED_AFTER_S)
        ended_by(signal.SIGKILL, tmp_path, "emulator")
    with closed_emulator(tmp_path) as aws:
        states = aws("stepfunctions")
        states.stop_execution(executionArn=execution)
        time.sleep(0.5)
        with pytest.raises(states.exceptions.ClientError, match=r"TaskTimedOut|TaskDoesNotExist"):
            states.send_task_success(taskToken=token, output="{}")
        assert states.describe_execution(executionArn=execution)["status"] == "ABORTED"


SLOW_AT_FIRST = """
import pathlib, time

def handler(event, context):
    calls = pathlib.Path({calls!r})
    again = calls.exists()
    with calls.open("a") as file:
        file.write(event["token"] + "\\n")
    time.sleep(0 if again else 15)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_call_that_was_cut_off_is_made_again_with_its_token(
    tmp_path: Path, number: signal.Signals
) -> None:
    calls = tmp_path / "calls"
    with closed_emulator(tmp_path) as aws:
        function = aws.function(SLOW_AT_FIRST.format(calls=str(calls)))
        state = calling(
            function,
            Resource="arn:aws:states:::lambda:invoke.waitForTaskToken",
            Parameters={"FunctionName": function, "Payload": {"token.$": "$$.Task.Token"}},
        )
        execution = aws.start(aws.machine({"Work": state}))
        tokens_of(calls, 1)
        time.sleep(SAVED_AFTER_S)
        ended_by(number, tmp_path, "emulator")
    with closed_emulator(tmp_path) as aws:
        before, after = tokens_of(calls, 2)
        assert before == after
        aws("stepfunctions").send_task_success(taskToken=after, output='{"well": true}')
        assert aws.settled(execution)["status"] == "SUCCEEDED"


def tokens_of(calls: Path, count: int) -> list[str]:
    give_up_at = time.monotonic() + 15
    while time.monotonic() < give_up_at:
        found = calls.read_text().split() if calls.exists() else []
        if len(found) >= count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not called {count} times")


def test_an_execution_whose_state_machine_was_changed_behind_it_fails_and_says_so(
    tmp_path: Path,
) -> None:
    with closed_emulator(tmp_path) as aws:
        queue = aws.queue()
        work = waiting(queue)
        machine = aws.machine({"Begin": {"Type": "Pass", "Next": "Work"}, "Work": work})
        execution = aws.start(machine)
        aws.receive(queue)
        states = {"Prepare": {"Type": "Pass", "Next": "Work"}, "Work": work}
        aws("stepfunctions").update_state_machine(
            stateMachineArn=machine, definition=json.dumps({"StartAt": "Prepare", "States": states})
        )
        time.sleep(SAVED_AFTER_S)
        ended_by(signal.SIGKILL, tmp_path, "emulator")
    with closed_emulator(tmp_path) as aws:
        found = aws.settled(execution)
        assert (found["status"], found["error"]) == ("FAILED", "States.Runtime")
        assert "it went through Begin, where there is Prepare now" in found["cause"]


def test_the_gap_is_still_there(tmp_path: Path) -> None:
    with plain_emulator(tmp_path) as aws:
        execution = aws.start(aws.machine({"Work": waiting(aws.queue())}))
        time.sleep(1)
        ended_by(signal.SIGTERM, tmp_path, "plain")
    with plain_emulator(tmp_path) as aws:
        status = aws("stepfunctions").describe_execution(executionArn=execution)["status"]
    assert status != "RUNNING", "MiniStack now does this; remove the gap restarts"
