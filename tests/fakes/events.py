"""Events in the very form in which AWS sends them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

ACCOUNT = "123456789012"
REGION = "us-east-1"
MACHINE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:Relay-runs"
QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:uploads"


def encoded(key: str) -> str:
    """A key as S3 writes it into events: form-encoded, slashes kept."""
    return quote(key, safe="/").replace("%20", "+")


def object_created(bucket: str, key: str, version_id: str, size: int) -> dict[str, Any]:
    """One record of an S3 notification."""
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": REGION,
        "eventTime": "2026-03-04T05:06:07.000Z",
        "eventName": "ObjectCreated:Put",
        "userIdentity": {"principalId": "AWS:AIDAEXAMPLE"},
        "requestParameters": {"sourceIPAddress": "203.0.113.7"},
        "responseElements": {"x-amz-request-id": "C3D13FE58DE4C810", "x-amz-id-2": "FMyUVURI"},
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "uploads",
            "bucket": {
                "name": bucket,
                "ownerIdentity": {"principalId": "A3NL1KOZZKExample"},
                "arn": f"arn:aws:s3:::{bucket}",
            },
            "object": {
                "key": encoded(key),
                "size": size,
                "eTag": "d41d8cd98f00b204e9800998ecf8427e",
                "versionId": version_id,
                "sequencer": "0055AED6DCD90281E5",
            },
        },
    }


def notification(*records: dict[str, Any]) -> str:
    """The body of a message from S3."""
    return json.dumps({"Records": list(records)})


def created(bucket: str, key: str, version_id: str, size: int) -> str:
    """The body of a message that tells of one object."""
    return notification(object_created(bucket, key, version_id, size))


def test_event(bucket: str) -> str:
    """What S3 sends when a notification is configured."""
    return json.dumps(
        {
            "Service": "Amazon S3",
            "Event": "s3:TestEvent",
            "Time": "2026-03-04T05:06:07.000Z",
            "Bucket": bucket,
            "RequestId": "5582815E1AEA5ADF",
            "HostId": "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE",
        }
    )


test_event.__test__ = False  # type: ignore[attr-defined]


def execution_ended(run: str, status: str) -> str:
    """The body of a message from EventBridge."""
    return json.dumps(
        {
            "version": "0",
            "id": "315c1398-40ff-a850-213b-158f73e60175",
            "detail-type": "Step Functions Execution Status Change",
            "source": "aws.states",
            "account": ACCOUNT,
            "time": "2026-03-04T05:06:07Z",
            "region": REGION,
            "resources": [f"{MACHINE.replace(':stateMachine:', ':execution:')}:{run}"],
            "detail": {
                "executionArn": f"{MACHINE.replace(':stateMachine:', ':execution:')}:{run}",
                "stateMachineArn": MACHINE,
                "name": run,
                "status": status,
                "startDate": 1772600767000,
                "stopDate": 1772600867000,
                "input": None,
                "output": None,
                "error": None,
                "cause": None,
            },
        }
    )


def node_health(status: str, **changes: Any) -> str:
    """The body of a message from EventBridge about a machine of a HyperPod cluster."""
    detail = {
        "ClusterName": "train-hyperpod",
        "ClusterArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl",
        "InstanceId": "i-0123456789abcdef0",
        "HealthSummary": {
            "HealthStatus": status,
            "HealthStatusReason": "XidError 79",
            "RepairAction": "Replace",
            "Recommendation": "",
        },
    }
    return cluster_event("SageMaker HyperPod Cluster Node Health Event", detail, **changes)


def cluster_event(
    kind: str, detail: dict[str, Any], time: str = "2026-03-04T05:06:07Z", **changes: Any
) -> str:
    """The body of a message from EventBridge about a HyperPod cluster."""
    return json.dumps(
        {
            "version": "0",
            "id": "0bd3ddca-403b-5f4a-9d1f-000000000000",
            "detail-type": kind,
            "source": "aws.sagemaker",
            "account": ACCOUNT,
            "time": time,
            "region": REGION,
            "resources": [f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl"],
            "detail": detail | changes,
        }
    )


def batch(*bodies: str) -> dict[str, Any]:
    """What Lambda gets of a queue; message ids count from m0."""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": f"handle-{number}",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1772600767000",
                    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
                    "ApproximateFirstReceiveTimestamp": "1772600767001",
                },
                "messageAttributes": {},
                "md5OfBody": "d41d8cd98f00b204e9800998ecf8427e",
                "eventSource": "aws:sqs",
                "eventSourceARN": QUEUE,
                "awsRegion": REGION,
            }
            for number, body in enumerate(bodies)
        ]
    }


def failed_in(answer: dict[str, Any]) -> list[str]:
    """Ids of the messages that stay in the queue."""
    return [item["itemIdentifier"] for item in answer["batchItemFailures"]]
