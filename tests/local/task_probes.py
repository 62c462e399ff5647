"""Questions about tasks: patience, tokens, retries, sizes."""

import time
from itertools import pairwise

from emulated import Emulated, calling, waiting
from gap import Probe, error_code

RAISING = """
class NoRoom(Exception): pass
def handler(event, context): raise NoRoom("full")
"""


def caught(*names: str) -> dict[str, object]:
    """A catcher for each error of interest, leading to a state of that name."""
    return {"Catch": [{"ErrorEquals": [name], "Next": name} for name in names]}


def ends(*names: str) -> dict[str, object]:
    return {name: {"Type": "Pass", "Result": name, "End": True} for name in names}


def a_silent_task_fails_with_a_heartbeat_timeout(aws: Emulated) -> object:
    state = waiting(aws.queue(), HeartbeatSeconds=1, **caught("States.HeartbeatTimeout"))
    return aws.run({"Work": state, **ends("States.HeartbeatTimeout")}, patience_s=4).get("output")


def a_catcher_of_timeouts_catches_a_heartbeat_timeout(aws: Emulated) -> object:
    state = waiting(aws.queue(), HeartbeatSeconds=1, **caught("States.Timeout"))
    return aws.run({"Work": state, **ends("States.Timeout")}, patience_s=4).get("output")


def the_heartbeat_may_come_from_the_input(aws: Emulated) -> object:
    fields = {"HeartbeatSecondsPath": "$.plan.heartbeat_s", "TimeoutSecondsPath": "$.plan.limit_s"}
    state = waiting(aws.queue(), **fields)
    del state["TimeoutSeconds"]
    given = {"plan": {"heartbeat_s": 1, "limit_s": 20}}
    return aws.run({"Work": state}, given, patience_s=4).get("error")


def the_timeout_may_come_from_the_input(aws: Emulated) -> object:
    state = waiting(aws.queue(), TimeoutSecondsPath="$.plan.limit_s")
    del state["TimeoutSeconds"]
    return aws.run({"Work": state}, {"plan": {"limit_s": 1}}, patience_s=4).get("error")


def patience_must_be_a_positive_whole_number(aws: Emulated) -> object:
    state = waiting(aws.queue(), HeartbeatSecondsPath="$.patience", TimeoutSeconds=2)
    return aws.run({"Work": state}, {"patience": "soon"}, patience_s=4).get("error")


def heartbeats_keep_a_task_alive(aws: Emulated) -> object:
    queue = aws.queue()
    machine = aws.machine({"Work": waiting(queue, HeartbeatSeconds=2)})
    execution = aws.start(machine)
    token = aws.receive(queue)["token"]
    for _ in range(8):
        time.sleep(0.5)
        aws("stepfunctions").send_task_heartbeat(taskToken=token)
    aws("stepfunctions").send_task_success(taskToken=token, output='{"well": true}')
    return aws.settled(execution).get("output")


def a_failing_request_fails_the_task_at_once(aws: Emulated) -> object:
    function = aws.function(
        "class NoRoom(Exception): pass\ndef handler(e, c): raise NoRoom('full')"
    )
    state = calling(function, Resource="arn:aws:states:::lambda:invoke.waitForTaskToken")
    return aws.run({"Work": state}, patience_s=8).get("error")


def each_attempt_has_its_own_token(aws: Emulated) -> object:
    queue = aws.queue()
    retry = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    aws.start(aws.machine({"Work": waiting(queue, TimeoutSeconds=1, Retry=retry)}))
    tokens = [aws.receive(queue)["token"] for _ in range(2)]
    return len(set(tokens))


def failing_at_once(**retry: object) -> dict[str, object]:
    state = calling("no-such-function")
    state["Retry"] = [{"ErrorEquals": ["States.ALL"], **retry}]
    return {"Work": state}


def full_jitter_shortens_waits(aws: Emulated) -> object:
    states = failing_at_once(IntervalSeconds=1, BackoffRate=1, MaxAttempts=4, JitterStrategy="FULL")
    execution = aws.start(aws.machine(states))
    aws.settled(execution, 8)
    times = [e["timestamp"] for e in aws.events(execution) if e["type"] == "TaskScheduled"]
    return any((b - a).total_seconds() < 0.9 for a, b in pairwise(times))


def the_longest_wait_is_bounded(aws: Emulated) -> object:
    states = failing_at_once(IntervalSeconds=8, MaxDelaySeconds=1, MaxAttempts=1)
    return aws.run(states, patience_s=4)["status"]


def no_wildcard_catches_what_is_too_large(aws: Emulated) -> object:
    function = aws.function("def handler(e, c): return 'x' * (300 * 1024)")
    state = calling(function, **caught("States.ALL"))
    return aws.run({"Work": state, **ends("States.ALL")}, patience_s=8).get("error")


def an_outcome_must_be_json(aws: Emulated) -> object:
    queue = aws.queue()
    aws.start(aws.machine({"Work": waiting(queue)}))
    token = aws.receive(queue)["token"]
    return error_code(aws("stepfunctions").send_task_success, taskToken=token, output="not json")


def a_token_that_is_over_says_so(aws: Emulated) -> object:
    queue = aws.queue()
    aws.start(aws.machine({"Work": waiting(queue)}))
    token = aws.receive(queue)["token"]
    aws("stepfunctions").send_task_success(taskToken=token, output="{}")
    return error_code(aws("stepfunctions").send_task_failure, taskToken=token)


def a_lambda_task_is_patient_too(aws: Emulated) -> object:
    function = aws.function("import time\ndef handler(e, c): time.sleep(3)")
    return aws.run({"Work": calling(function, TimeoutSeconds=1)}, patience_s=8).get("error")


GAPS = [
    Probe("callbacks", a_silent_task_fails_with_a_heartbeat_timeout, '"States.HeartbeatTimeout"'),
    Probe("callbacks", a_catcher_of_timeouts_catches_a_heartbeat_timeout, '"States.Timeout"'),
    Probe("callbacks", a_failing_request_fails_the_task_at_once, "NoRoom"),
    Probe("patience", the_heartbeat_may_come_from_the_input, "States.HeartbeatTimeout"),
    Probe("patience", the_timeout_may_come_from_the_input, "States.Timeout"),
    Probe("patience", patience_must_be_a_positive_whole_number, "States.Runtime"),
    Probe("retries", each_attempt_has_its_own_token, 2),
    Probe("retries", full_jitter_shortens_waits, True),
    Probe("retries", the_longest_wait_is_bounded, "FAILED"),
    Probe("sizes", no_wildcard_catches_what_is_too_large, "States.DataLimitExceeded"),
    Probe("outcomes", an_outcome_must_be_json, "InvalidOutput"),
    Probe("outcomes", a_token_that_is_over_says_so, "TaskTimedOut"),
]
HOLDS = [
    Probe("callbacks", heartbeats_keep_a_task_alive, '{"well": true}'),
    Probe("callbacks", a_lambda_task_is_patient_too, "States.Timeout"),
]
