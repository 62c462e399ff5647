"""Questions about functions and what calls them."""

import json
import time

from emulated import Emulated
from gap import Probe, error_code

COUNTING = """
import os, sys
calls = 0
class NoRoom(Exception): pass
def handler(event, context):
    global calls
    calls += 1
    if event == "raise": raise NoRoom("full")
    if event == "exit": os._exit(3)
    if event == "path": return sys.path
    if event == "role": return os.environ["AWS_ACCESS_KEY_ID"]
    if event == "odd": return object()
    return calls
"""

REACHING = """
import boto3
def handler(event, context): boto3.client("s3").list_buckets()
"""
LOOKING = """
import importlib.util
def handler(event, context): return bool(importlib.util.find_spec("relay"))
"""


def an_error_is_named_after_its_class(aws: Emulated) -> object:
    said = aws.invoke(aws.function(COUNTING), "raise")
    return said["errorType"], said["errorMessage"]


def a_process_outlives_an_error(aws: Emulated) -> object:
    function = aws.function(COUNTING)
    return [aws.invoke(function, event) for event in ("count", "raise", "count")][-1]


def a_process_that_ends_is_an_exit_error(aws: Emulated) -> object:
    return aws.invoke(aws.function(COUNTING), "exit")["errorType"]


def an_answer_must_be_json(aws: Emulated) -> object:
    return aws.invoke(aws.function(COUNTING), "odd")["errorType"]


def a_missing_module_is_an_import_error(aws: Emulated) -> object:
    function = aws.function("import no_such_module\ndef handler(e, c): pass")
    return aws.invoke(function)["errorType"]


def the_checkout_is_out_of_sight(aws: Emulated) -> object:
    function = aws.function(LOOKING)
    return aws.invoke(function)


def a_function_has_no_more_rights_than_its_role(aws: Emulated) -> object:
    said = aws.invoke(aws.function(REACHING))
    return said["errorType"], "AccessDenied" in said["errorMessage"]


def an_object_is_written_only_if_absent(aws: Emulated) -> object:
    bucket = f"b-{time.time_ns()}"
    aws("s3").create_bucket(Bucket=bucket)
    put = {"Bucket": bucket, "Key": "plan.json", "Body": b"1"}
    first = aws("s3").put_object(**put, IfNoneMatch="*")["ETag"]
    codes = [error_code(aws("s3").put_object, **put, IfNoneMatch="*")]
    codes.append(error_code(aws("s3").put_object, **put, IfMatch='"0"'))
    codes.append(error_code(aws("s3").put_object, **put, IfMatch=first))
    return codes


def an_old_version_can_be_read(aws: Emulated) -> object:
    bucket = f"b-{time.time_ns()}"
    aws("s3").create_bucket(Bucket=bucket)
    aws("s3").put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    first = aws("s3").put_object(Bucket=bucket, Key="k", Body=b"1")["VersionId"]
    aws("s3").put_object(Bucket=bucket, Key="k", Body=b"2")
    return aws("s3").get_object(Bucket=bucket, Key="k", VersionId=first)["Body"].read()


def the_end_of_an_execution_is_an_event(aws: Emulated) -> object:
    queue = aws.queue()
    arn = aws("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    arn = arn["Attributes"]["QueueArn"]
    machine = aws.machine({"Done": {"Type": "Pass", "Result": {"well": True}, "End": True}})
    pattern = {
        "source": ["aws.states"],
        "detail": {"stateMachineArn": [machine], "status": ["SUCCEEDED"]},
    }
    rule = f"r-{time.time_ns()}"
    allow_events(aws, queue, arn)
    aws("events").put_rule(Name=rule, EventPattern=json.dumps(pattern))
    aws("events").put_targets(Rule=rule, Targets=[{"Id": "q", "Arn": arn}])
    aws.start(machine)
    event = aws.receive(queue)
    return event and json.loads(event["detail"]["output"])


def a_failure_of_a_function_called_by_a_rule_goes_somewhere(aws: Emulated) -> object:
    queue, function = aws.queue(), aws.function(COUNTING)
    arn = aws("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    aws("lambda").put_function_event_invoke_config(
        FunctionName=function,
        MaximumRetryAttempts=0,
        DestinationConfig={"OnFailure": {"Destination": arn["Attributes"]["QueueArn"]}},
    )
    found = aws("lambda").get_function(FunctionName=function)["Configuration"]
    rule = f"r-{time.time_ns()}"
    aws("events").put_rule(Name=rule, EventPattern=json.dumps({"source": [rule]}))
    target = {"Id": "f", "Arn": found["FunctionArn"], "Input": json.dumps("raise")}
    aws("events").put_targets(Rule=rule, Targets=[target])
    aws("lambda").add_permission(
        FunctionName=function,
        StatementId="rule",
        Action="lambda:InvokeFunction",
        Principal="events.amazonaws.com",
    )
    aws("events").put_events(Entries=[{"Source": rule, "DetailType": "d", "Detail": "{}"}])
    said = aws.receive(queue)
    return said and said["responsePayload"]["errorType"]


def allow_events(aws: Emulated, queue: str, arn: str) -> None:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": arn,
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    aws("sqs").set_queue_attributes(QueueUrl=queue, Attributes={"Policy": policy})


def a_failed_message_comes_again_after_its_visibility(aws: Emulated) -> object:
    queue = aws("sqs").create_queue(
        QueueName=f"q-{time.time_ns()}", Attributes={"VisibilityTimeout": "2"}
    )["QueueUrl"]
    aws("sqs").send_message(QueueUrl=queue, MessageBody='{"n": 1}')
    times = []
    for _ in range(2):
        aws.receive(queue)
        times.append(time.monotonic())
    return 1.5 < times[1] - times[0] < 4


GAPS = [
    Probe("events", a_failure_of_a_function_called_by_a_rule_goes_somewhere, "NoRoom"),
    Probe("function errors", an_error_is_named_after_its_class, ("NoRoom", "full")),
    Probe("function errors", a_process_outlives_an_error, 3),
    Probe("function errors", a_process_that_ends_is_an_exit_error, "Runtime.ExitError"),
    Probe("function errors", an_answer_must_be_json, "Runtime.MarshalError"),
    Probe("function errors", a_missing_module_is_an_import_error, "Runtime.ImportModuleError"),
]
HOLDS = [
    Probe("roles", a_function_has_no_more_rights_than_its_role, ("AccessDenied", True)),
    Probe("function errors", the_checkout_is_out_of_sight, False),
    Probe(
        "s3",
        an_object_is_written_only_if_absent,
        ["PreconditionFailed", "PreconditionFailed", "accepted"],
    ),
    Probe("s3", an_old_version_can_be_read, b"1"),
    Probe("events", the_end_of_an_execution_is_an_event, {"well": True}),
    Probe("sqs", a_failed_message_comes_again_after_its_visibility, True),
]
