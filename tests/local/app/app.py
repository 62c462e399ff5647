"""A small app of the same make as the real one: bucket, queue, functions, state machine, rule."""

from pathlib import Path

import aws_cdk as core
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambdas
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

FUNCTIONS = Path(__file__).parent / "function"


class Probe(core.Stack):
    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        bucket = s3.CfnBucket(self, "Bucket", bucket_name=f"probe-{self.account}")
        queue = sqs.Queue(self, "Queue", visibility_timeout=core.Duration.seconds(20))
        arn = f"arn:aws:s3:::probe-{self.account}"
        queue.add_to_resource_policy(
            iam.PolicyStatement(
                actions=["sqs:SendMessage"],
                principals=[iam.ServicePrincipal("s3.amazonaws.com")],
                resources=[queue.queue_arn],
                conditions={
                    "ArnLike": {"aws:SourceArn": arn},
                    "StringEquals": {"aws:SourceAccount": self.account},
                },
            )
        )
        bucket.versioning_configuration = s3.CfnBucket.VersioningConfigurationProperty(
            status="Enabled"
        )
        bucket.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[
                s3.CfnBucket.QueueConfigurationProperty(
                    event="s3:ObjectCreated:*", queue=queue.queue_arn
                )
            ]
        )
        bucket.node.add_dependency(queue)
        table = dynamodb.TableV2(
            self, "Table", partition_key={"name": "pk", "type": dynamodb.AttributeType.STRING}
        )
        task = self.function("task", {"TABLE": table.table_name})
        machine = sfn.StateMachine(
            self,
            "Machine",
            definition_body=sfn.DefinitionBody.from_chainable(
                tasks.LambdaInvoke(
                    self, "Work", lambda_function=task, retry_on_service_exceptions=False
                )
            ),
        )
        table.grant_write_data(task)
        start = self.function("start", {"MACHINE": machine.state_machine_arn})
        machine.grant_start_execution(start)
        start.add_event_source(sources.SqsEventSource(queue, batch_size=1))
        tick = self.function("tick", {"TABLE": table.table_name})
        table.grant_write_data(tick)
        events.Rule(
            self,
            "EveryMinute",
            schedule=events.Schedule.rate(core.Duration.minutes(1)),
            targets=[targets.LambdaFunction(tick)],
        )
        for key, value in (
            ("Bucket", bucket.ref),
            ("Queue", queue.queue_url),
            ("Table", table.table_name),
            ("Machine", machine.state_machine_arn),
            ("Said", self.node.try_get_context("say") or ""),
        ):
            core.CfnOutput(self, f"{key}Output", value=value)

    def function(self, name: str, variables: dict[str, str]) -> lambdas.Function:
        return lambdas.Function(
            self,
            name.title(),
            runtime=lambdas.Runtime.PYTHON_3_13,
            code=lambdas.Code.from_asset(str(FUNCTIONS)),
            handler=f"handlers.{name}",
            environment=variables,
            timeout=core.Duration.seconds(18),
        )


app = core.App()
Probe(app, "Probe")
app.synth()
