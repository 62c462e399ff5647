"""The ledger: one table that says what is true."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct


class Ledger(Construct):
    """A table with string keys `pk` and `sk`; no index, as what waits is read consistently."""

    def __init__(self, scope: Construct, id_: str, *, retains: bool, protects: bool) -> None:
        """Make the table.

        Args:
            scope: the stack.
            id_: its role.
            retains: whether it outlives the stack.
            protects: whether it refuses to be deleted.
        """
        super().__init__(scope, id_)
        self.table = dynamodb.Table(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            time_to_live_attribute="expires_at",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=protects,
            removal_policy=RemovalPolicy.RETAIN if retains else RemovalPolicy.DESTROY,
        )
