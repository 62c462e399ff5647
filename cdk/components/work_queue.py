"""A queue, and the one beside it where messages go that nobody could handle."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IDependable

RECEIVES_MAX = 5
"""Fewer would send messages to the dead letters when functions are throttled for a moment."""
RETENTION = Duration.days(4)
DEAD_LETTER_RETENTION = Duration.days(14)
"""SQS's limit; it must outlast the source's, as a message keeps its age when it is moved."""


def dead_letters(scope: Construct, id_: str) -> sqs.Queue:
    """A queue for what could not be handled: kept as long as SQS can, read by people."""
    return sqs.Queue(
        scope,
        id_,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=DEAD_LETTER_RETENTION,
    )


def policy_of(queue: sqs.Queue) -> IDependable:
    """The queue's policy, to depend on."""
    return queue.node.find_child("Policy")


def let_send(queue: sqs.Queue, sid: str, service: str, source_arn: str, account: str) -> None:
    """Let a service send for one source of this account.

    Args:
        queue: the destination.
        sid: what for, in one word.
        service: the principal, such as `s3.amazonaws.com`.
        source_arn: an ARN, or a pattern of one.
        account: that the source must belong to.
    """
    queue.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            principals=[iam.ServicePrincipal(service)],
            actions=["sqs:SendMessage"],
            resources=[queue.queue_arn],
            conditions={
                "StringEquals": {"aws:SourceAccount": account},
                "ArnLike": {"aws:SourceArn": source_arn},
            },
        )
    )


class WorkQueue(Construct):
    """A standard queue with dead letters, encrypted by SQS, reached over TLS only."""

    def __init__(self, scope: Construct, id_: str, *, visibility: Duration) -> None:
        """Make both queues.

        Args:
            scope: the stack.
            id_: the queue's role.
            visibility: how long a message that was received stays hidden; six times the
                timeout of the function that reads it.
        """
        super().__init__(scope, id_)
        self.dead_letters = dead_letters(self, "DeadLetters")
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=visibility,
            retention_period=RETENTION,
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters, max_receive_count=RECEIVES_MAX
            ),
        )
