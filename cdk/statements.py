"""The words that policies are made of: a statement says what it is for, and on what exactly.

Actions are written out: the L2 grants add some that nobody here needs (scans, batch writes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

Conditions = Mapping[str, Mapping[str, str | Sequence[str]]]


def allow(
    sid: str, actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None
) -> iam.PolicyStatement:
    """Allow actions; the Sid says what for."""
    return iam.PolicyStatement(
        sid=sid, actions=list(actions), resources=list(resources), conditions=conditions
    )


def reads_objects(
    bucket: s3.IBucket, *prefixes: str, sid: str = "ReadObjects", versions: bool = False
) -> list[iam.PolicyStatement]:
    """Read objects below prefixes, and learn that one is not there.

    S3 says 403 instead of 404 to a caller who may not list. Whether a request for one object
    carries `s3:prefix` is not documented, so the condition holds for requests that have it.

    Args:
        bucket: whose objects.
        prefixes: each ending in a slash.
        sid: what for.
        versions: whether also exact versions.
    """
    patterns = [f"{prefix}*" for prefix in prefixes]
    actions = ["s3:GetObject", "s3:GetObjectVersion"] if versions else ["s3:GetObject"]
    return [
        allow(sid, actions, _objects(bucket, patterns), _owned(bucket)),
        allow(
            f"{sid}OrMiss",
            ["s3:ListBucket"],
            [bucket.bucket_arn],
            {**_owned(bucket), "StringLikeIfExists": {"s3:prefix": patterns}},
        ),
    ]


def lists_versions(bucket: s3.IBucket, *prefixes: str, sid: str) -> iam.PolicyStatement:
    """See which versions of objects lie below prefixes, each ending in a slash."""
    patterns = [f"{prefix}*" for prefix in prefixes]
    return allow(
        sid,
        ["s3:ListBucketVersions"],
        [bucket.bucket_arn],
        {**_owned(bucket), "StringLike": {"s3:prefix": patterns}},
    )


def puts_objects(bucket: s3.IBucket, *patterns: str, sid: str) -> iam.PolicyStatement:
    """Put objects whose keys match a pattern."""
    return allow(sid, ["s3:PutObject"], _objects(bucket, patterns), _owned(bucket))


def never_puts_objects(bucket: s3.IBucket, *patterns: str, sid: str) -> iam.PolicyStatement:
    """Deny what a wider allowance would include."""
    return iam.PolicyStatement(
        sid=sid,
        effect=iam.Effect.DENY,
        actions=["s3:PutObject"],
        resources=_objects(bucket, patterns),
    )


LEDGER_ACTIONS = frozenset(
    {
        "dynamodb:ConditionCheckItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
    }
)


def keeps_ledger(table: dynamodb.Table, *, never: Sequence[str] = ()) -> iam.PolicyStatement:
    """Read items, and write them by condition, one by one or in transactions; but for `never`."""
    return allow("KeepLedger", sorted(LEDGER_ACTIONS - set(never)), [table.table_arn])


def receives(queue: sqs.Queue, sid: str) -> iam.PolicyStatement:
    """What Lambda's poller needs of a queue."""
    return allow(
        sid,
        ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"],
        [queue.queue_arn],
    )


def works_off(queue: sqs.Queue, sid: str) -> iam.PolicyStatement:
    """Receive and delete messages."""
    return allow(sid, ["sqs:DeleteMessage", "sqs:ReceiveMessage"], [queue.queue_arn])


def sends(queue: sqs.Queue, sid: str) -> iam.PolicyStatement:
    """Send messages to a queue."""
    return allow(sid, ["sqs:SendMessage"], [queue.queue_arn])


def sees_cluster(arn: str) -> iam.PolicyStatement:
    """Learn where a cluster's API is and what it is known by; what may be done there is its own."""
    return allow("FindCluster", ["eks:DescribeCluster"], [arn])


def joins_network(functions: str) -> list[iam.PolicyStatement]:
    """What Lambda needs to attach a function to a VPC, and the function's own code does not.

    Args:
        functions: pattern of the functions' ARNs.
    """
    actions = [
        "ec2:AssignPrivateIpAddresses",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:UnassignPrivateIpAddresses",
    ]
    return [
        allow("JoinNetwork", actions, ["*"]),
        iam.PolicyStatement(
            sid="NeverJoinByItself",
            effect=iam.Effect.DENY,
            actions=actions,
            resources=["*"],
            conditions={"ArnLike": {"lambda:SourceFunctionArn": functions}},
        ),
    ]


def writes_log(group: logs.LogGroup) -> iam.PolicyStatement:
    """Write to one log group."""
    return allow("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [group.log_group_arn])


def traces() -> iam.PolicyStatement:
    """Send traces; X-Ray knows no resource to name."""
    return allow("Trace", ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], ["*"])


def _objects(bucket: s3.IBucket, patterns: Sequence[str]) -> list[str]:
    return [bucket.arn_for_objects(pattern) for pattern in patterns]


def _owned(bucket: s3.IBucket) -> dict[str, dict[str, str]]:
    """The bucket's name could one day be somebody else's."""
    return {"StringEquals": {"aws:ResourceAccount": Stack.of(bucket).account}}
