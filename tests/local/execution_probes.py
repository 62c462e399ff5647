"""Questions about executions: starting, stopping, ending."""

import json
import time

from emulated import Emulated, waiting
from gap import Probe, error_code

WAIT = {"Wait": {"Type": "Wait", "Seconds": 30, "End": True}}


def the_same_start_finds_the_running_execution(aws: Emulated) -> object:
    machine = aws.machine(WAIT)
    first = aws.start(machine, {"a": 1}, name="twice")
    try:
        return aws.start(machine, {"a": 1}, name="twice") == first
    except aws("stepfunctions").exceptions.ExecutionAlreadyExists:
        return False


def another_input_is_another_start(aws: Emulated) -> object:
    machine = aws.machine(WAIT)
    aws.start(machine, {"a": 1}, name="once")
    start = aws("stepfunctions").start_execution
    return error_code(start, stateMachineArn=machine, name="once", input='{"a": 2}')


def a_used_name_stays_used(aws: Emulated) -> object:
    machine = aws.machine({"Done": {"Type": "Pass", "End": True}})
    aws.settled(aws.start(machine, name="burnt"))
    start = aws("stepfunctions").start_execution
    return error_code(start, stateMachineArn=machine, name="burnt", input="{}")


def a_name_has_eighty_characters_at_most(aws: Emulated) -> object:
    start = aws("stepfunctions").start_execution
    machine = aws.machine(WAIT)
    return [
        error_code(start, stateMachineArn=machine, name=name)
        for name in ("n" * 80, "n" * 81, "a b", "a/b", "a:b")
    ]


def input_must_be_json(aws: Emulated) -> object:
    start = aws("stepfunctions").start_execution
    return error_code(start, stateMachineArn=aws.machine(WAIT), input="not json")


def input_has_a_limit(aws: Emulated) -> object:
    start = aws("stepfunctions").start_execution
    given = json.dumps("x" * 256 * 1024)
    return error_code(start, stateMachineArn=aws.machine(WAIT), input=given)


def a_stopped_execution_stays_stopped(aws: Emulated) -> object:
    queue = aws.queue()
    retry = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    machine = aws.machine({"Work": waiting(queue, TimeoutSeconds=2, Retry=retry)})
    execution = aws.start(machine)
    aws.receive(queue)
    aws("stepfunctions").stop_execution(executionArn=execution, error="Stopped", cause="by hand")
    again = aws.receive(queue, 4)
    time.sleep(2)
    found = aws("stepfunctions").describe_execution(executionArn=execution)
    return found["status"], found["error"], again, aws.events(execution)[-1]["type"]


def a_wait_ends_with_its_execution(aws: Emulated) -> object:
    machine = aws.machine({"Wait": {"Type": "Wait", "Seconds": 2, "End": True}})
    execution = aws.start(machine)
    time.sleep(0.5)
    aws("stepfunctions").stop_execution(executionArn=execution)
    time.sleep(2.5)
    return aws.events(execution)[-1]["type"]


def an_execution_has_its_own_limit(aws: Emulated) -> object:
    found = aws.run(WAIT, patience_s=4, TimeoutSeconds=1)
    return found["status"]


def a_failure_may_take_its_words_from_the_input(aws: Emulated) -> object:
    state = {"Type": "Fail", "ErrorPath": "$.error", "CausePath": "$.cause"}
    found = aws.run({"Stop": state}, {"error": "NoRoom", "cause": "The cluster is full"})
    return found["error"], found["cause"]


GAPS = [
    Probe("starts", the_same_start_finds_the_running_execution, True),
    Probe(
        "starts",
        a_name_has_eighty_characters_at_most,
        ["accepted", "InvalidName", "InvalidName", "InvalidName", "InvalidName"],
    ),
    Probe("starts", input_must_be_json, "InvalidExecutionInput"),
    Probe("starts", input_has_a_limit, "ValidationException"),
    Probe(
        "stops", a_stopped_execution_stays_stopped, ("ABORTED", "Stopped", None, "ExecutionAborted")
    ),
    Probe("stops", a_wait_ends_with_its_execution, "ExecutionAborted"),
    Probe("deadlines", an_execution_has_its_own_limit, "TIMED_OUT"),
]
HOLDS = [
    Probe("starts", another_input_is_another_start, "ExecutionAlreadyExists"),
    Probe("starts", a_used_name_stays_used, "ExecutionAlreadyExists"),
    Probe("fails", a_failure_may_take_its_words_from_the_input, ("NoRoom", "The cluster is full")),
]
