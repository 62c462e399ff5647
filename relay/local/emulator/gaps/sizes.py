"""What a task hands on is at most 256 KiB.

AWS: a larger result fails the state with States.DataLimitExceeded, which no wildcard catches.
MiniStack: hands on any size.
"""

import json
from collections.abc import Callable
from typing import Any

from ministack.services import stepfunctions

from relay.local.emulator.gaps.starts import LIMIT_BYTES

Outcome = tuple[Any, str | None]


def close() -> None:
    """Weigh what each attempt at a task returns."""
    stepfunctions._execute_task = _weighed(stepfunctions._execute_task)


def _weighed(attempt: Callable[..., Outcome]) -> Callable[..., Outcome]:
    def attempt_weighed(
        state: dict[str, Any], given: object, execution: dict[str, Any], context: dict[str, Any]
    ) -> Outcome:
        output, following = attempt(state, given, execution, context)
        size = len(json.dumps(output, ensure_ascii=False).encode())
        if size > LIMIT_BYTES:
            raise stepfunctions._ExecutionError(
                "States.DataLimitExceeded",
                f"The state's output has {size} bytes; at most {LIMIT_BYTES} are allowed",
            )
        return output, following

    return attempt_weighed
