"""Answering a task token needs the right on its state machine.

AWS: a policy that allows states:SendTaskSuccess, SendTaskFailure or SendTaskHeartbeat on a state
machine's ARN allows it for the tokens of that machine (CDK's `grantTaskResponse` builds on it).
MiniStack: knows no resource for these calls, so only a policy on `*` would allow them.
"""

import json
from collections.abc import Callable

from ministack.core import iam_actions
from ministack.services import stepfunctions

Extract = Callable[..., str]


def close() -> None:
    """Name the state machine of the token as what the call is about."""
    iam_actions.extract_resource_arn = _of_token(iam_actions.extract_resource_arn)


def _of_token(extract: Extract) -> Extract:
    def extract_of_token(
        service: str, method: str, path: str, headers: dict[str, str], body: bytes, *rest: object
    ) -> str:
        if service == "states" and (machine := _machine(body)):
            return machine
        return extract(service, method, path, headers, body, *rest)

    return extract_of_token


def _machine(body: bytes) -> str | None:
    try:
        request = json.loads(body or b"{}")
    except ValueError:
        return None
    token = request.get("taskToken") if isinstance(request, dict) else None
    if not isinstance(token, str):
        return None
    pending = stepfunctions._task_tokens.get(token)
    execution = stepfunctions._executions.get(pending.execution) if pending else None
    if execution:
        return str(execution["stateMachineArn"])
    # A token of the past tells nothing any more; whoever may answer any machine here learns so.
    return next(iter(stepfunctions._state_machines), None)
