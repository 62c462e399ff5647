"""The state machine that carries a run; its graph reads as a sentence."""

from __future__ import annotations

from aws_cdk import Aws, Duration, Fn, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.components.run_graph import run_graph
from cdk.log_retention import retention
from cdk.names import run_machine_name
from cdk.settings import Settings
from cdk.statements import allow

COMMENT = "One run of a pipeline: drops become a policy that is published, or the current one stays"


class RunMachine(Construct):
    """A standard state machine; an execution is named by its run."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: Settings,
        submit: lambda_.Function,
        decide: lambda_.Function,
    ) -> None:
        """Make log, role and machine.

        Args:
            scope: the stack.
            id_: its role.
            settings: name, gather time, what becomes of logs.
            submit: starts a phase's job, given a task token.
            decide: plans, judges, publishes.
        """
        super().__init__(scope, id_)
        self.log = _log(self, settings)
        self.role = _role(self, [submit, decide])
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=run_machine_name(Stack.of(self)),
            comment=COMMENT,
            definition_body=sfn.DefinitionBody.from_chainable(
                run_graph(self, Duration.seconds(settings.gather_s), submit, decide)
            ),
            role=self.role.without_policy_updates(),
            tracing_enabled=True,
            # Execution data holds task tokens, and whoever has one can answer for a job.
            logs=sfn.LogOptions(
                destination=self.log, level=sfn.LogLevel.ALL, include_execution_data=False
            ),
        )


def _log(scope: Construct, settings: Settings) -> logs.LogGroup:
    # Under this prefix, log delivery needs no entry of its own in the account's resource policy,
    # which is soon full. The stack's id keeps the name free when an older log was retained.
    unique = Fn.select(2, Fn.split("/", Aws.STACK_ID))
    return logs.LogGroup(
        scope,
        "Log",
        log_group_name=f"/aws/vendedlogs/states/{settings.name}-runs-{unique}",
        retention=retention(settings),
        removal_policy=RemovalPolicy.RETAIN if settings.retains else RemovalPolicy.DESTROY,
    )


def _role(scope: Construct, functions: list[lambda_.Function]) -> iam.Role:
    stack = Stack.of(scope)
    rights = [
        allow("Invoke", ["lambda:InvokeFunction"], [one.function_arn for one in functions]),
        # Neither log deliveries nor traces are resources that a policy can name.
        allow(
            "DeliverLog",
            [
                "logs:CreateLogDelivery",
                "logs:DeleteLogDelivery",
                "logs:DescribeLogGroups",
                "logs:DescribeResourcePolicies",
                "logs:GetLogDelivery",
                "logs:ListLogDeliveries",
                "logs:PutResourcePolicy",
                "logs:UpdateLogDelivery",
            ],
            ["*"],
        ),
        allow(
            "Trace",
            [
                "xray:GetSamplingRules",
                "xray:GetSamplingTargets",
                "xray:PutTelemetryRecords",
                "xray:PutTraceSegments",
            ],
            ["*"],
        ),
    ]
    return iam.Role(
        scope,
        "Role",
        description="Relay: calls submit and decide on behalf of runs",
        assumed_by=iam.ServicePrincipal(
            "states.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
        ),
        inline_policies={"rights": iam.PolicyDocument(statements=rights)},
    )
