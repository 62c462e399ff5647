"""An execution that was ended stays ended.

AWS: StopExecution ends an execution wherever it is. Nothing of it is retried, it gets one status
event, and a terminal status never changes.
MiniStack: only flips the status. The thread lives on, retries its task, and turns ABORTED into
FAILED with a second event.
"""

from collections.abc import Callable
from typing import Any

from ministack.services import stepfunctions

from relay.local.emulator import executions

_LAST_EVENTS = {"ExecutionAborted", "ExecutionFailed", "ExecutionSucceeded", "ExecutionTimedOut"}


def close() -> None:
    """Let a stop reach the thread, and let nothing follow the end."""
    stepfunctions._run_execution = _registered(stepfunctions._run_execution)
    stepfunctions._stop_execution = _reaching(stepfunctions._stop_execution)
    stepfunctions._scaled_sleep = _sleep
    stepfunctions._fail_execution = _unless_ended(stepfunctions._fail_execution)
    stepfunctions._add_event = _until_the_end(stepfunctions._add_event)


def _registered(run: Callable[[str], None]) -> Callable[[str], None]:
    def run_registered(execution_arn: str) -> None:
        executions.enter(execution_arn)
        try:
            run(execution_arn)
        finally:
            executions.leave(execution_arn)

    return run_registered


def _reaching(stop: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    def stop_and_wake(request: dict[str, Any]) -> Any:  # noqa: ANN401 - MiniStack's response
        response = stop(request)
        arn = request.get("executionArn", "")
        execution = stepfunctions._executions.get(arn)
        if execution and execution["status"] != executions.RUNNING:
            executions.end(arn)
        return response

    return stop_and_wake


def _sleep(seconds: float) -> None:
    executions.current().sleep(seconds * stepfunctions._SFN_WAIT_SCALE)


def _unless_ended(fail: Callable[..., None]) -> Callable[..., None]:
    def fail_if_running(execution: dict[str, Any], error: str, cause: str) -> None:
        if execution["status"] == executions.RUNNING:
            fail(execution, error, cause)

    return fail_if_running


def _until_the_end(add: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def add_before_end(
        execution: dict[str, Any], event_type: str, details: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        events = execution["events"]
        if events and events[-1]["type"] in _LAST_EVENTS:
            return {}
        return add(execution, event_type, details)

    return add_before_end
