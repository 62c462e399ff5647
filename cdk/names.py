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


def node_rule_name(stack_name: str) -> str:
    """Name of the rule that hears of a cluster's nodes; it is in a stack of its own."""
    return f"{stack_name}-node-events"


def node_rule_arn(stack: Stack) -> str:
    """ARN of that rule, as seen from the control plane's stack."""
    return stack.format_arn(
        service="events", resource="rule", resource_name=node_rule_name(stack.stack_name)
    )


def cluster_arn(stack: Stack, name: str) -> str:
    """ARN of an EKS cluster of the stack's account and region."""
    return stack.format_arn(service="eks", resource="cluster", resource_name=name)


def functions_arn_pattern(stack: Stack) -> str:
    """Pattern of the ARNs of the functions that CloudFormation will name after the stack."""
    return _colon_arn(stack, "lambda", "function", f"{stack.stack_name}-*")


def bucket_arn_pattern(stack: Stack) -> str:
    """Pattern of the ARN of the bucket that CloudFormation will name after the stack."""
    return f"arn:{stack.partition}:s3:::{stack.stack_name.lower()}-*"


def alarms_arn_pattern(stack: Stack) -> str:
    """Pattern of the ARNs of the stack's alarms."""
    return _colon_arn(stack, "cloudwatch", "alarm", f"{stack.stack_name}-*")


def _colon_arn(stack: Stack, service: str, resource: str, name: str) -> str:
    return stack.format_arn(
        service=service,
        resource=resource,
        resource_name=name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
