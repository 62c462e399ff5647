"""What is known by its name before it exists.

Three circles run through the stack: functions start the state machine that calls them; the bucket
may only be made once its queues let it send, and they name the bucket; and the reports queue lets
the status rule send, which names the machine. Each is cut by a name given here.
"""

from __future__ import annotations

from aws_cdk import ArnFormat, Stack


def run_machine_name(stack: Stack) -> str:
    """Name of the state machine that carries runs."""
    return f"{stack.stack_name}-runs"


def run_machine_arn(stack: Stack) -> str:
    """ARN of that state machine."""
    return _colon_arn(stack, "states", "stateMachine", run_machine_name(stack))


def run_executions_arn(stack: Stack) -> str:
    """Pattern of its executions' ARNs."""
    return _colon_arn(stack, "states", "execution", f"{run_machine_name(stack)}:*")


def status_rule_name(stack: Stack) -> str:
    """Name of the rule that watches how executions go."""
    return f"{stack.stack_name}-run-status"


def status_rule_arn(stack: Stack) -> str:
    """ARN of that rule."""
    return stack.format_arn(
        service="events", resource="rule", resource_name=status_rule_name(stack)
    )


def bucket_arn_pattern(stack: Stack) -> str:
    """Pattern of the ARN of the bucket that CloudFormation will name after the stack."""
    return f"arn:{stack.partition}:s3:::{stack.stack_name.lower()}-*"


def _colon_arn(stack: Stack, service: str, resource: str, name: str) -> str:
    return stack.format_arn(
        service=service,
        resource=resource,
        resource_name=name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
