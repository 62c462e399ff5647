"""A task's patience may come from its input.

AWS: HeartbeatSecondsPath and TimeoutSecondsPath name a positive whole number in the input.
MiniStack: knows neither, and waits for ever.
"""

from collections.abc import Callable
from typing import Any

from ministack.services import stepfunctions

State = dict[str, Any]
Outcome = tuple[Any, str | None]
_FIELDS = ("HeartbeatSeconds", "TimeoutSeconds")


def close() -> None:
    """Put the numbers into the state before it runs."""
    stepfunctions._execute_task = _resolved(stepfunctions._execute_task)


def _resolved(execute: Callable[..., Outcome]) -> Callable[..., Outcome]:
    def execute_resolved(
        state: State, given: object, execution: dict[str, Any], context: dict[str, Any]
    ) -> Outcome:
        found = {
            field: _seconds(state[f"{field}Path"], given, context)
            for field in _FIELDS
            if f"{field}Path" in state
        }
        return execute({**state, **found}, given, execution, context)

    return execute_resolved


def _seconds(path: str, given: object, context: dict[str, Any]) -> int:
    value = stepfunctions._resolve_path_or_ctx(path, given, context)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise stepfunctions._ExecutionError(
            "States.Runtime", f"{path} must be a positive whole number, not {value!r}"
        )
    return value
