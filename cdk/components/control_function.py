"""A function of the control plane, with a role and a log of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.log_retention import retention
from cdk.settings import Settings
from cdk.statements import traces, writes_log

POWERTOOLS_ACCOUNT = "017000801446"
"""AWS's account that publishes the Powertools layers."""
RUNTIME = lambda_.Runtime.PYTHON_3_13


@dataclass(frozen=True)
class Role:
    """What a function is for, and how much it takes."""

    name: str
    does: str
    timeout: Duration
    memory_mb: int = 512


@dataclass(frozen=True)
class Shared:
    """What all functions have in common."""

    code: lambda_.Code
    layer: lambda_.ILayerVersion
    environment: Mapping[str, str]
    settings: Settings


def powertools(scope: Construct, settings: Settings) -> lambda_.ILayerVersion:
    """The public Powertools layer of the stack's region, or the one that settings name."""
    arn = settings.powertools_layer or (
        f"arn:aws:lambda:{Stack.of(scope).region}:{POWERTOOLS_ACCOUNT}:layer:"
        f"AWSLambdaPowertoolsPythonV3-python313-{settings.architecture}:"
        f"{settings.powertools_version}"
    )
    return lambda_.LayerVersion.from_layer_version_arn(scope, "Powertools", arn)


class ControlFunction(Construct):
    """`lambdas/<name>/handler.py`; its role may do what is listed and nothing more."""

    def __init__(
        self,
        scope: Construct,
        role: Role,
        *,
        shared: Shared,
        rights: Sequence[iam.PolicyStatement],
    ) -> None:
        """Make log, role and function.

        Args:
            scope: the stack.
            role: what the function is for.
            shared: what it has in common with the others.
            rights: what it may do besides logging and tracing.
        """
        super().__init__(scope, role.name.capitalize())
        settings = shared.settings
        self.log = logs.LogGroup(
            self,
            "Log",
            retention=retention(settings),
            removal_policy=RemovalPolicy.RETAIN if settings.retains else RemovalPolicy.DESTROY,
        )
        statements = [writes_log(self.log), traces(), *rights]
        self.role = iam.Role(
            self,
            "Role",
            description=f"Relay: {role.name}, which {role.does}",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={"rights": iam.PolicyDocument(statements=statements)},
        )
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Relay: {role.does}",
            runtime=RUNTIME,
            architecture=_architecture(settings),
            handler=f"lambdas.{role.name}.handler.handler",
            code=shared.code,
            layers=[shared.layer],
            environment=dict(shared.environment),
            # The L2 would add to the role what it thinks the function needs.
            role=self.role.without_policy_updates(),
            timeout=role.timeout,
            memory_size=role.memory_mb,
            tracing=lambda_.Tracing.ACTIVE,
            log_group=self.log,
        )

    def read(self, queue: sqs.IQueue, *, batch: int, concurrency: int) -> None:
        """Have the queue's messages handled; a failed one comes back without the others.

        Args:
            queue: whose messages; the role must be allowed to receive them.
            batch: most messages a call.
            concurrency: most calls at a time.
        """
        self.source = lambda_.EventSourceMapping(
            self,
            "Source",
            target=self.function,
            event_source_arn=queue.queue_arn,
            batch_size=batch,
            max_batching_window=Duration.seconds(0),
            max_concurrency=concurrency,
            report_batch_item_failures=True,
        )

    def join(self, subnet_ids: Sequence[str], security_group_id: str) -> None:
        """Attach the function to a VPC; nothing is asked of AWS about it.

        The L2 would want to know the subnets' zones, and would add a managed policy to the role.
        """
        resource = cast(lambda_.CfnFunction, self.function.node.default_child)
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(subnet_ids), security_group_ids=[security_group_id]
        )


def _architecture(settings: Settings) -> lambda_.Architecture:
    if settings.architecture == "arm64":
        return lambda_.Architecture.ARM_64
    return lambda_.Architecture.X86_64
