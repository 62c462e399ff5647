"""The rule that tells the control plane what happens to the cluster's machines."""

from __future__ import annotations

from aws_cdk import aws_events as events
from constructs import Construct

HEALTH = "SageMaker HyperPod Cluster Node Health Event"
STATE = "SageMaker HyperPod Cluster State Change"
OTHER = "SageMaker HyperPod Cluster Event"


class NodeEventRule(Construct):
    """A HyperPod cluster's events become messages on the reports queue.

    The queue lets the rule send by its name, in the control plane's stack. The third kind of
    event names its cluster one level deeper, and is emitted by clusters that provision
    continuously only.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        cluster: str,
        reports: str,
        dead_letters: str,
    ) -> None:
        """Make the rule.

        Args:
            scope: the stack.
            id_: its role.
            name: the rule's, as the queue's policy knows it.
            cluster: the HyperPod cluster's name, which is not the EKS cluster's.
            reports: ARN of the queue where the messages go.
            dead_letters: ARN of the one where those go that could not be delivered.
        """
        super().__init__(scope, id_)
        self.rule = events.CfnRule(
            self,
            "Rule",
            name=name,
            description="Relay: tells the control plane that machines are replaced or updated",
            state="ENABLED",
            event_pattern={
                "source": ["aws.sagemaker"],
                "detail-type": [HEALTH, STATE, OTHER],
                "detail": {
                    "$or": [
                        {"ClusterName": [cluster]},
                        {"EventDetails": {"ClusterName": [cluster]}},
                    ]
                },
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id="reports",
                    arn=reports,
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(arn=dead_letters),
                )
            ],
        )
