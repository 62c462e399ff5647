"""What the agent does about a job, for every kind of sight."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from relay.agent.decisions import (
    ASK_AGAIN_S,
    DEADLINE_GRACE_S,
    KILL_AFTER_S,
    Action,
    Claim,
    Finish,
    Forget,
    Sight,
    Start,
    Stop,
    Wait,
    decide,
)
from relay.agent.ports import JobLook

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
FRESH = Sight(
    me="me",
    stage="claiming",
    claimed_by=None,
    stop_reason=None,
    exited=False,
    deadline=NOW + timedelta(hours=1),
    now=NOW,
    ray=JobLook("ABSENT"),
)
STARTED = replace(FRESH, stage="started", claimed_by="me", ray=JobLook("RUNNING"))


@pytest.mark.parametrize(
    ("what", "sight", "action"),
    [
        ("nobody has it", {}, Claim()),
        ("I have it", {"claimed_by": "me"}, Start()),
        ("I have it, Ray is silent", {"claimed_by": "me", "ray": JobLook("UNREACHABLE")}, Wait()),
        ("Ray has it already", {"claimed_by": "me", "ray": JobLook("RUNNING")}, Start()),
        ("another has it", {"claimed_by": "you"}, Forget("you has it")),
        ("its end is on record", {"exited": True}, Forget("its end is already on record")),
    ],
)
def test_before_a_job_has_started(what: str, sight: dict[str, Any], action: Action) -> None:
    assert decide(replace(FRESH, **sight)) == action, what


@pytest.mark.parametrize("claimed_by", [None, "me"])
@pytest.mark.parametrize(
    "sight", [{"stop_reason": "cancelled"}, {"deadline": NOW}, {"deadline": NOW - timedelta(1)}]
)
def test_a_job_that_must_not_start_is_refused_and_gets_no_result(
    claimed_by: str | None, sight: dict[str, Any]
) -> None:
    action = decide(replace(FRESH, claimed_by=claimed_by, **sight))
    assert isinstance(action, Finish)
    assert (action.ending.how, action.ending.error) == ("refused", None)


def test_a_stopped_job_that_another_agent_has_is_left_to_that_agent() -> None:
    assert isinstance(decide(replace(FRESH, claimed_by="you", stop_reason="x")), Forget)


@pytest.mark.parametrize(
    ("sight", "action"),
    [
        ({}, Wait()),
        ({"ray": JobLook("PENDING")}, Wait()),
        ({"ray": JobLook("UNREACHABLE")}, Wait()),
        ({"deadline": NOW}, Wait()),
        ({"stop_reason": "x"}, Stop(ask=True, hard=False)),
        ({"stop_reason": "x", "stopping_s": 1.0, "asked_s": 1.0}, Wait()),
        (
            {"stop_reason": "x", "stopping_s": ASK_AGAIN_S, "asked_s": ASK_AGAIN_S},
            Stop(ask=True, hard=False),
        ),
        (
            {"stop_reason": "x", "stopping_s": KILL_AFTER_S, "asked_s": 0.5},
            Stop(ask=False, hard=True),
        ),
        (
            {"deadline": NOW - timedelta(seconds=DEADLINE_GRACE_S)},
            Stop(ask=True, hard=False),
        ),
        ({"stop_reason": "x", "ray": JobLook("UNREACHABLE")}, Stop(ask=True, hard=False)),
    ],
)
def test_while_a_job_runs(sight: dict[str, Any], action: Action) -> None:
    assert decide(replace(STARTED, **sight)) == action


@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED", "STOPPED", "ABSENT", "DEAD"])
def test_a_job_has_not_ended_before_its_processes_have(state: Any) -> None:
    ended = replace(STARTED, ray=JobLook(state))
    assert decide(replace(ended, process_alive=True)) == Stop(ask=False, hard=True)
    assert isinstance(decide(ended), Finish)


LATE = NOW - timedelta(seconds=DEADLINE_GRACE_S)


@pytest.mark.parametrize(
    ("sight", "how", "error"),
    [
        ({"ray": JobLook("SUCCEEDED", 0)}, "succeeded", "JobCrashed"),
        ({"ray": JobLook("SUCCEEDED", 0), "stop_reason": "x"}, "succeeded", "JobCrashed"),
        ({"ray": JobLook("FAILED", 7)}, "failed", "JobCrashed"),
        ({"ray": JobLook("FAILED", -9), "stop_reason": "x"}, "stopped", "JobStopped"),
        ({"ray": JobLook("STOPPED"), "stop_reason": "x"}, "stopped", "JobStopped"),
        ({"ray": JobLook("STOPPED"), "deadline": LATE}, "stopped", "DeadlineExceeded"),
        ({"ray": JobLook("STOPPED")}, "stopped", "JobCrashed"),
        ({"ray": JobLook("ABSENT")}, "lost", "JobCrashed"),
        ({"ray": JobLook("DEAD")}, "lost", "JobCrashed"),
        ({"ray": JobLook("ABSENT"), "stop_reason": "x"}, "stopped", "JobStopped"),
    ],
)
def test_how_an_end_is_told(sight: dict[str, Any], how: str, error: str) -> None:
    action = decide(replace(STARTED, **sight))
    assert isinstance(action, Finish)
    assert (action.ending.how, action.ending.error) == (how, error)


@pytest.mark.parametrize(
    ("look", "said"),
    [
        (JobLook("FAILED", 7, "ValueError: no\nmore"), "exit code 7 and left no result: ValueE"),
        (JobLook("FAILED", -9), "killed by signal 9 (was memory short?) and left no result"),
        (JobLook("FAILED", None, "supervisor died"), "ended and left no result: supervisor died"),
    ],
)
def test_a_crash_is_told_in_one_line(look: JobLook, said: str) -> None:
    action = decide(replace(STARTED, ray=look))
    assert isinstance(action, Finish)
    assert said in action.ending.cause
    assert "\n" not in action.ending.cause
