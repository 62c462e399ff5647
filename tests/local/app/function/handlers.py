"""The functions of the small app."""

import json
import os
import time
from typing import Any

import boto3


def start(event: dict[str, Any], _context: object) -> None:
    """A message of the queue starts an execution named after its object."""
    for record in event["Records"]:
        for notice in json.loads(record["body"]).get("Records", []):
            key = notice["s3"]["object"]["key"]
            boto3.client("stepfunctions").start_execution(
                stateMachineArn=os.environ["MACHINE"], name=key, input=json.dumps({"key": key})
            )


def task(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Write down that the object's execution ran."""
    write(event["key"])
    return event


def tick(_event: object, _context: object) -> None:
    """Write down when the schedule fired."""
    write("tick")


def write(key: str) -> None:
    item = {"pk": {"S": key}, "at": {"N": str(time.time())}}
    boto3.client("dynamodb").put_item(TableName=os.environ["TABLE"], Item=item)
