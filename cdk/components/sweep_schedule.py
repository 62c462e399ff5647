"""The clock of the control plane."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_destinations as destinations
from aws_cdk import aws_sqs as sqs
from constructs import Construct

EVERY = Duration.minutes(1)


class SweepSchedule(Construct):
    """Calls `sweep` once a minute; the next call is the retry of one that failed."""

    def __init__(
        self, scope: Construct, id_: str, *, sweep: lambda_.Function, missed: sqs.Queue
    ) -> None:
        """Make the rule.

        Args:
            scope: the stack.
            id_: its role.
            sweep: the function.
            missed: where a call goes that failed or could not be made.
        """
        super().__init__(scope, id_)
        sweep.configure_async_invoke(
            on_failure=destinations.SqsDestination(missed),
            retry_attempts=0,
            max_event_age=EVERY,
        )
        self.rule = events.Rule(
            self,
            "Rule",
            description="Relay: looks after what got stuck",
            schedule=events.Schedule.rate(EVERY),
            targets=[
                targets.LambdaFunction(
                    sweep, dead_letter_queue=missed, retry_attempts=0, max_event_age=EVERY
                )
            ],
        )
