"""A token takes one outcome, and the outcome must be JSON of a bounded size.

AWS: the first SendTaskSuccess or SendTaskFailure decides; a later call, or one for a task that
timed out, gets TaskTimedOut. An output that is not JSON, or larger than 256 KiB, is refused.
MiniStack: lets a second call overwrite the first for a moment, answers TaskDoesNotExist
afterwards, and takes any output.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ministack.core.responses import error_response_json
from ministack.services import stepfunctions

from relay.local.emulator.gaps.starts import LIMIT_BYTES

_REMEMBERED = 10_000
_seen: OrderedDict[str, None] = OrderedDict()
Call = Callable[[dict[str, Any]], Any]


def close() -> None:
    """Check the three SendTask calls."""
    stepfunctions._send_task_success = _checked_output(
        _first_only(stepfunctions._send_task_success)
    )
    stepfunctions._send_task_failure = _first_only(stepfunctions._send_task_failure)
    stepfunctions._send_task_heartbeat = _first_only(stepfunctions._send_task_heartbeat)
    stepfunctions._invoke_with_callback = _remembering(stepfunctions._invoke_with_callback)


def _first_only(send: Call) -> Call:
    def send_if_open(request: dict[str, Any]) -> Any:  # noqa: ANN401 - MiniStack's response
        token = request.get("taskToken")
        pending = stepfunctions._task_tokens.get(token)
        over = pending["event"].is_set() if pending else token in _seen
        if over:
            return error_response_json("TaskTimedOut", "The task of this token is over", 400)
        return send(request)

    return send_if_open


def _checked_output(send: Call) -> Call:
    def send_checked(request: dict[str, Any]) -> Any:  # noqa: ANN401 - MiniStack's response
        output = request.get("output", "")
        if len(output.encode()) > LIMIT_BYTES:
            return error_response_json(
                "ValidationException", f"output must have at most {LIMIT_BYTES} bytes", 400
            )
        try:
            json.loads(output)
        except json.JSONDecodeError as error:
            return error_response_json("InvalidOutput", f"Invalid output: {error}", 400)
        return send(request)

    return send_checked


def _remembering(wait: Callable[..., Any]) -> Callable[..., Any]:
    def wait_and_remember(
        resource: str, request: dict[str, Any], token: str, state: dict[str, Any]
    ) -> Any:  # noqa: ANN401 - any JSON
        _seen[token] = None
        while len(_seen) > _REMEMBERED:
            _seen.popitem(last=False)
        return wait(resource, request, token, state)

    return wait_and_remember
