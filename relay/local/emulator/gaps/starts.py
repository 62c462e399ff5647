"""StartExecution is idempotent, and refuses bad names and bad input.

AWS: the same name with the same input finds the execution while it runs; names have 1 to 80
characters of a safe set; input is JSON of at most 256 KiB.
MiniStack: refuses every repeated name, and takes any name and any input.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from ministack.core.responses import error_response_json, json_response
from ministack.services import stepfunctions

from relay.local.emulator import executions

LIMIT_BYTES = 256 * 1024
_NAME = re.compile(r"[^\s<>{}\[\]?*\"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]{1,80}")
Request = dict[str, Any]


def close() -> None:
    """Check each start, and answer a repeated one with the running execution."""
    stepfunctions._start_execution = _checked(stepfunctions._start_execution)


def _checked(start: Callable[[Request], Any]) -> Callable[[Request], Any]:
    def start_checked(request: Request) -> Any:  # noqa: ANN401 - MiniStack's response
        if problem := _problem(request):
            return error_response_json(*problem, 400)
        if found := _running_twin(request):
            return json_response(
                {"executionArn": found["executionArn"], "startDate": found["startDate"]}
            )
        return start(request)

    return start_checked


def _problem(request: Request) -> tuple[str, str] | None:
    name, text = request.get("name"), request.get("input", "{}")
    if name is not None and not _NAME.fullmatch(name):
        return "InvalidName", f"Invalid Name: '{name}'"
    if len(text.encode()) > LIMIT_BYTES:
        return "ValidationException", f"input must have at most {LIMIT_BYTES} bytes"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return "InvalidExecutionInput", f"Invalid State Machine Execution Input: '{error}'"
    return None


def _running_twin(request: Request) -> dict[str, Any] | None:
    for execution in stepfunctions._executions.values():
        if (
            execution["name"] == request.get("name")
            and execution["stateMachineArn"] == request.get("stateMachineArn")
            and execution["status"] == executions.RUNNING
            and execution["input"] == request.get("input", "{}")
        ):
            found: dict[str, Any] = execution
            return found
    return None
