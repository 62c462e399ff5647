"""The rule that reports how executions end, whoever ended them."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_events as events
from constructs import Construct

from cdk.components.work_queue import WorkQueue, let_send
from cdk.names import run_machine_arn, status_rule_arn, status_rule_name

ENDED = ("SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED")


class RunStatusRule(Construct):
    """Every end of an execution becomes a message on the reports queue.

    The L2's queue target would let the rule send by its ARN, and so close a circle of
    dependencies from the bucket to the machine and back; the permission goes by name instead.
    """

    def __init__(self, scope: Construct, id_: str, *, reports: WorkQueue) -> None:
        """Make the rule and let it send.

        Args:
            scope: the stack.
            id_: its role.
            reports: where the messages go; what cannot be delivered goes to its dead letters.
        """
        super().__init__(scope, id_)
        stack = Stack.of(self)
        for queue in (reports.queue, reports.dead_letters):
            let_send(
                queue, "SendStatus", "events.amazonaws.com", status_rule_arn(stack), stack.account
            )
        self.rule = events.CfnRule(
            self,
            "Rule",
            name=status_rule_name(stack),
            description="Relay: tells the control plane that a run's execution has ended",
            state="ENABLED",
            event_pattern={
                "source": ["aws.states"],
                "detail-type": ["Step Functions Execution Status Change"],
                "detail": {"stateMachineArn": [run_machine_arn(stack)], "status": list(ENDED)},
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id="reports",
                    arn=reports.queue.queue_arn,
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(
                        arn=reports.dead_letters.queue_arn
                    ),
                )
            ],
        )
