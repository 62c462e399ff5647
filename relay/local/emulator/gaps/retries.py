"""A retry is a new attempt with a new token, after a jittered and bounded wait.

AWS: each attempt at a task has its own token. The wait is IntervalSeconds times BackoffRate to
the number of retries, at most MaxDelaySeconds, and with JitterStrategy FULL a random part of it.
States.Timeout covers a heartbeat timeout; wildcards match neither States.DataLimitExceeded nor
States.Runtime.
MiniStack: all attempts share one token, waits end at 60 s, MaxDelaySeconds and jitter are
ignored, and wildcards match everything.
"""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from ministack.services import stepfunctions

from relay.local.emulator.executions import Interrupted

State = dict[str, Any]
Outcome = tuple[Any, str | None]
_TERMINAL = {"States.DataLimitExceeded", "States.Runtime"}


def close() -> None:
    """Take over the retrying of tasks, and what an error name matches."""
    stepfunctions._execute_task = _retrying(stepfunctions._execute_task)
    stepfunctions._error_matches = _matches


def _matches(names: list[str], error: str) -> bool:
    if error in names:
        return True
    if error == "States.HeartbeatTimeout" and "States.Timeout" in names:
        return True
    if error in _TERMINAL:
        return False
    return "States.ALL" in names or ("States.TaskFailed" in names and error != "States.Timeout")


def _retrying(attempt: Callable[..., Outcome]) -> Callable[..., Outcome]:
    def attempt_until_settled(
        state: State, given: object, execution: dict[str, Any], context: dict[str, Any]
    ) -> Outcome:
        once = {key: value for key, value in state.items() if key not in {"Retry", "Catch"}}
        retries: Counter[int] = Counter()
        while True:
            try:
                return attempt(once, given, execution, context)
            except Interrupted:
                raise
            except stepfunctions._ExecutionError as error:
                wait_s = _wait_s(state.get("Retry", []), error.error, retries)
                if wait_s is None:
                    return _caught(state, given, context, error)
                stepfunctions._scaled_sleep(wait_s)

    return attempt_until_settled


def _wait_s(retriers: list[State], error: str, retries: Counter[int]) -> float | None:
    """Seconds before the next attempt, which is counted; None when there is none."""
    for position, retrier in enumerate(retriers):
        if not _matches(retrier["ErrorEquals"], error):
            continue
        if retries[position] >= retrier.get("MaxAttempts", 3):
            return None
        growth = retrier.get("BackoffRate", 2.0) ** retries[position]
        retries[position] += 1
        wait_s: float = retrier.get("IntervalSeconds", 1) * growth
        wait_s = min(wait_s, retrier.get("MaxDelaySeconds", wait_s))
        full = retrier.get("JitterStrategy") == "FULL"
        return random.uniform(0, wait_s) if full else wait_s  # noqa: S311 - not a secret
    return None


def _caught(state: State, given: object, context: dict[str, Any], error: Any) -> Outcome:  # noqa: ANN401
    catcher = stepfunctions._find_matching_catcher(state.get("Catch", []), error.error)
    if catcher is None:
        raise error
    language = stepfunctions._state_query_language(state, context)
    said = {"Error": error.error, "Cause": error.cause}
    return (
        stepfunctions._apply_catcher(catcher, given, context, language, said),
        catcher["Next"],
    )
