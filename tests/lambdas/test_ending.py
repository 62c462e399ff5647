"""What a run's end says, of an execution that recorded no outcome itself."""

from __future__ import annotations

import json

import pytest

from contracts.limits import CAUSE_MAX
from lambdas.logic.close_run import ending
from lambdas.ports import ExecutionState

OF_A_FUNCTION = json.dumps(
    {
        "errorType": "AttemptsExhausted",
        "errorMessage": "optimize of round 1 used its 3 attempts",
        "stackTrace": ["Traceback"] * 400,
    }
)


@pytest.mark.parametrize(
    ("status", "error", "cause", "ended", "words"),
    [
        (
            "FAILED",
            "AttemptsExhausted",
            OF_A_FUNCTION,
            "FAILED",
            "AttemptsExhausted: optimize of round 1 used its 3 attempts",
        ),
        ("FAILED", "JobCrashed", "killed", "FAILED", "JobCrashed: killed"),
        ("FAILED", "E", '["a list"]', "FAILED", 'E: ["a list"]'),
        ("FAILED", "E", '{"errorMessage": 3}', "FAILED", 'E: {"errorMessage": 3}'),
        ("TIMED_OUT", "", "", "FAILED", "the execution ended as TIMED_OUT"),
        ("ABORTED", "Operator", "not this one", "CANCELLED", "Operator: not this one"),
        ("ABORTED", "", "", "CANCELLED", "the execution was stopped"),
    ],
)
def test_the_end_is_told_in_words(
    status: str, error: str, cause: str, ended: str, words: str
) -> None:
    found = ending(ExecutionState(status=status, error=error, cause=cause))
    assert found == (ended, words)


def test_a_long_cause_is_cut() -> None:
    _, words = ending(ExecutionState(status="FAILED", error="E", cause="x" * 10 * CAUSE_MAX))
    assert len(words) == CAUSE_MAX
