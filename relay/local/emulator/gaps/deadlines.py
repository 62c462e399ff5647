"""A state machine's TimeoutSeconds ends its executions.

AWS: an execution that is still running after TimeoutSeconds becomes TIMED_OUT, with a status
event; nothing of it is retried or caught.
MiniStack: ignores the field.
"""

import contextvars
import json
import threading
from collections.abc import Callable

from ministack.core.responses import now_iso
from ministack.services import stepfunctions

from relay.local.emulator import executions


def close() -> None:
    """Give each execution a timer."""
    stepfunctions._run_execution = _timed(stepfunctions._run_execution)


def _timed(run: Callable[[str], None]) -> Callable[[str], None]:
    def run_timed(execution_arn: str) -> None:
        seconds = _timeout_s(execution_arn)
        if seconds is None:
            run(execution_arn)
            return
        context = contextvars.copy_context()
        timer = threading.Timer(seconds, context.run, args=(_time_out, execution_arn))
        timer.daemon = True
        timer.start()
        try:
            run(execution_arn)
        finally:
            timer.cancel()

    return run_timed


def _timeout_s(execution_arn: str) -> float | None:
    execution = stepfunctions._executions.get(execution_arn) or {}
    machine = stepfunctions._state_machines.get(execution.get("stateMachineArn"))
    if not machine:
        return None
    try:
        seconds = json.loads(machine["definition"]).get("TimeoutSeconds")
    except json.JSONDecodeError:
        return None
    return float(seconds) if isinstance(seconds, int | float) else None


def _time_out(execution_arn: str) -> None:
    execution = stepfunctions._executions.get(execution_arn)
    if not execution or execution["status"] != executions.RUNNING:
        return
    execution["status"] = "TIMED_OUT"
    execution["stopDate"] = now_iso()
    stepfunctions._add_event(execution, "ExecutionTimedOut", {"executionTimedOutEventDetails": {}})
    stepfunctions._emit_execution_status_event(execution)
    executions.end(execution_arn)
