"""The bucket: data comes in, jobs report, policies go out; what arrives rings a queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IDependable

from contracts.layout import INCOMING, PROGRESS, RESULT, RUNS


class Bell(NamedTuple):
    """Objects with this prefix and suffix ring this queue when they are created."""

    queue: sqs.Queue
    prefix: str
    suffix: str = ""


def bells(uploads: sqs.Queue, reports: sqs.Queue) -> tuple[Bell, ...]:
    """Uploads ring one queue, what jobs report the other; the slash keeps look-alikes out."""
    return (
        Bell(uploads, INCOMING),
        Bell(reports, RUNS, f"/{PROGRESS}"),
        Bell(reports, RUNS, f"/{RESULT}"),
    )


class ObjectStore(Construct):
    """A versioned, private bucket that tells queues what was created in it."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        retains: bool,
        bells: Sequence[Bell],
        after: Sequence[IDependable],
    ) -> None:
        """Make the bucket.

        Args:
            scope: the stack.
            id_: its role.
            retains: whether it outlives the stack.
            bells: who is told of which objects.
            after: policies of the queues; S3 refuses to notify a queue that refuses it.
        """
        super().__init__(scope, id_)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=_lifecycle(),
            removal_policy=RemovalPolicy.RETAIN if retains else RemovalPolicy.DESTROY,
        )
        resource = cast(s3.CfnBucket, self.bucket.node.default_child)
        # The L2's add_event_notification is a custom resource that runs after the bucket.
        resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[_notification(bell) for bell in bells]
        )
        resource.node.add_dependency(*after)


def _lifecycle() -> list[s3.LifecycleRule]:
    return [
        s3.LifecycleRule(
            id="forget-overwritten-progress",
            prefix=RUNS,
            noncurrent_version_expiration=Duration.days(1),
            expired_object_delete_marker=True,
        ),
        s3.LifecycleRule(
            id="abort-unfinished-uploads",
            abort_incomplete_multipart_upload_after=Duration.days(7),
        ),
    ]


def _notification(bell: Bell) -> s3.CfnBucket.QueueConfigurationProperty:
    rules = [s3.CfnBucket.FilterRuleProperty(name="prefix", value=bell.prefix)]
    if bell.suffix:
        rules.append(s3.CfnBucket.FilterRuleProperty(name="suffix", value=bell.suffix))
    return s3.CfnBucket.QueueConfigurationProperty(
        event="s3:ObjectCreated:*",
        queue=bell.queue.queue_arn,
        filter=s3.CfnBucket.NotificationFilterProperty(
            s3_key=s3.CfnBucket.S3KeyFilterProperty(rules=rules)
        ),
    )
