"""What an operator is woken for; each alarm says where its runbook is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.names import alarms_arn_pattern
from cdk.settings import Settings

MINUTE = Duration.minutes(1)
FIVE_MINUTES = Duration.minutes(5)
OLDEST_MESSAGE_S = 900
"""Messages that fail five times are dead letters after eleven minutes; older ones are a backlog."""

QUIET = cloudwatch.TreatMissingData.NOT_BREACHING
LOUD = cloudwatch.TreatMissingData.BREACHING


@dataclass(frozen=True)
class Watched:
    """What alarms are about.

    Attributes:
        ends: where messages end that nobody could handle, by whose they were.
        queues: that functions read, by what they hold.
        runs: the state machine.
    """

    ends: Mapping[str, sqs.Queue]
    queues: Mapping[str, sqs.Queue]
    runs: sfn.StateMachine


def own_metric(
    namespace: str, name: str, statistic: str, period: Duration = MINUTE
) -> cloudwatch.Metric:
    """A metric that functions write to their logs."""
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map={"service": "relay"},
        statistic=statistic,
        period=period,
    )


class Alarms(Construct):
    """The alarms of a control plane, and whom they tell if anybody."""

    def __init__(self, scope: Construct, id_: str, *, settings: Settings, watched: Watched) -> None:
        """Make the alarms.

        Args:
            scope: the stack.
            id_: its role.
            settings: whom to tell, and where runbooks are.
            watched: what they are about.
        """
        super().__init__(scope, id_)
        self._settings = settings
        self._namespace = settings.name
        self.topic = self._topic() if settings.alarm_email else None
        self.all: list[cloudwatch.Alarm] = []
        self._dead_letters(watched.ends)
        self._oldest_messages(watched.queues)
        self._failed_runs(watched.runs)
        self._silent_phases()
        self._missing_sweeps()

    def _topic(self) -> sns.Topic:
        topic = sns.Topic(self, "Topic", display_name="Relay", enforce_ssl=True)
        stack = Stack.of(self)
        # A topic with a policy of its own has lost the one that let its account's alarms publish.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="PublishAlarms",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": stack.account},
                    "ArnLike": {"aws:SourceArn": alarms_arn_pattern(stack)},
                },
            )
        )
        self.mail = sns.Subscription(
            self,
            "Mail",
            topic=topic,
            protocol=sns.SubscriptionProtocol.EMAIL,
            endpoint=self._settings.alarm_email,
        )
        return topic

    def _dead_letters(self, ends: Mapping[str, sqs.Queue]) -> None:
        for whose, queue in ends.items():
            self._alarm(
                "dead-letters",
                whose,
                queue.metric_approximate_number_of_messages_visible(
                    period=MINUTE, statistic="Maximum"
                ),
                says=f"a message of {whose} could not be handled",
            )

    def _oldest_messages(self, queues: Mapping[str, sqs.Queue]) -> None:
        for whose, queue in queues.items():
            self._alarm(
                "oldest-message",
                whose,
                queue.metric_approximate_age_of_oldest_message(
                    period=FIVE_MINUTES, statistic="Maximum"
                ),
                says=f"a message of {whose} waits for longer than {OLDEST_MESSAGE_S // 60} minutes",
                threshold=OLDEST_MESSAGE_S,
            )

    def _failed_runs(self, runs: sfn.StateMachine) -> None:
        self._alarm(
            "failed-runs",
            "",
            runs.metric_failed(period=FIVE_MINUTES, statistic="Sum"),
            says="a run failed; two in a row pause their pipeline",
        )

    def _silent_phases(self) -> None:
        self._alarm(
            "silent-phase",
            "",
            own_metric(self._namespace, "SilentPhases", "Maximum"),
            says="a phase has been without progress for longer than 15 minutes",
            periods=5,
            needed=3,
        )

    def _missing_sweeps(self) -> None:
        self._alarm(
            "missing-sweep",
            "",
            # Written at the end of a sweep, so neither a call that fails nor one not made counts.
            own_metric(self._namespace, "SweptPipelines", "SampleCount", FIVE_MINUTES),
            says="no sweep came to its end for ten minutes",
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            periods=2,
            missing=LOUD,
        )

    def _alarm(
        self,
        runbook: str,
        whose: str,
        metric: cloudwatch.Metric,
        *,
        says: str,
        threshold: float = 1,
        comparison: cloudwatch.ComparisonOperator = (
            cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        ),
        periods: int = 1,
        needed: int | None = None,
        missing: cloudwatch.TreatMissingData = QUIET,
    ) -> None:
        name = "-".join(part for part in (runbook, whose) if part)
        alarm = cloudwatch.Alarm(
            self,
            "".join(part.capitalize() for part in name.split("-")),
            alarm_name=f"{Stack.of(self).stack_name}-{name}",
            alarm_description=f"{says}. Runbook: {self._settings.runbooks}/{runbook}.md",
            metric=metric,
            threshold=threshold,
            comparison_operator=comparison,
            evaluation_periods=periods,
            datapoints_to_alarm=needed,
            treat_missing_data=missing,
        )
        if self.topic is not None:
            alarm.add_alarm_action(actions.SnsAction(self.topic))
            alarm.add_ok_action(actions.SnsAction(self.topic))
        self.all.append(alarm)
