"""A run's story, from ledger, history and results."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from stories import BEGUN, RUN, at, attempt, failed, optimizing, published, record, result, visits

from contracts import errors
from contracts.errors import RelayError, names_below
from contracts.ledger import RUN_ENDED
from contracts.names import AttemptKey
from relay.console.execution_history import visits as read_visits
from relay.console.remedies import has_remedy, remedy
from relay.console.run_drawing import RunDrawing
from relay.console.run_lines import lines_between
from relay.console.storytelling import LINE, Sources, tell


def event(kind: str, seconds: float, name: str) -> dict[str, Any]:
    details = "stateEnteredEventDetails" if kind.endswith("Entered") else "stateExitedEventDetails"
    return {"type": kind, "timestamp": at(seconds), details: {"name": name}}


def test_history_becomes_visits_in_order_and_other_events_are_passed_over() -> None:
    found = read_visits(
        [
            {"type": "ExecutionStarted", "timestamp": at(0)},
            event("WaitStateEntered", 0, "Gather drops"),
            event("WaitStateExited", 2, "Gather drops"),
            event("TaskStateEntered", 2, "Plan run"),
            {"type": "TaskScheduled", "timestamp": at(2)},
        ]
    )
    assert [(one.name, one.kind, one.entered_at, one.exited_at) for one in found] == [
        ("Gather drops", "wait", at(0), at(2)),
        ("Plan run", "task", at(2), None),
    ]


def test_a_state_entered_twice_is_two_visits() -> None:
    events = []
    for start in (0, 10):
        events.append(event("TaskStateEntered", start, "Collect rollouts"))
        events.append(event("TaskStateExited", start + 5, "Collect rollouts"))
    assert [one.exited_at for one in read_visits(events)] == [at(5), at(15)]


def test_a_running_run_shows_what_is_done_what_runs_and_what_is_to_come() -> None:
    story = optimizing()
    assert [(state.name, state.status) for state in story.states] == [
        ("Gather drops", "done"),
        ("Plan run", "done"),
        ("Collect rollouts", "done"),
        ("Optimize policy", "running"),
        ("Evaluate policy", "waiting"),
        ("Decide", "waiting"),
        ("Publish policy", "waiting"),
    ]
    assert story.states[2].attempts[0].metrics["records"] == 640
    assert story.states[3].attempts[0].progress is not None


def test_a_run_that_has_not_begun_has_the_whole_line_to_come() -> None:
    story = tell(Sources(record(status="STARTING", drops=0), [], [], "arn"))
    assert [state.name for state in story.states] == list(LINE)
    assert {state.status for state in story.states} == {"waiting"}


def test_a_failed_run_says_what_failed_and_what_to_do() -> None:
    story = failed()
    assert story.error == "JobCrashed"
    assert f"relay retry {RUN}" in story.remedy
    states = {state.name: state for state in story.states}
    assert states["Optimize policy"].status == "failed"
    assert [one.error for one in states["Optimize policy"].attempts] == ["JobCrashed"] * 2
    assert "waiting" not in {state.status for state in story.states}


def test_a_cancelled_run_stopped_in_the_state_where_it_was() -> None:
    story = optimizing(
        record=record(status="CANCELLED", reason="asked", ended_at=at(9)),
        status="ABORTED",
        stopped_at=at(9),
    )
    assert (story.states[-1].name, story.states[-1].status) == ("Optimize policy", "stopped")
    assert story.states[-1].exited_at == at(9)
    assert story.error == ""


def test_a_second_round_has_its_own_attempts_and_the_line_before_it_again() -> None:
    first = (*BEGUN, "Optimize policy", "Evaluate policy", "Decide", "What next?", "Next round")
    attempts = [attempt("collect", status="SUCCEEDED"), attempt("collect", round=2)]
    story = tell(
        Sources(
            record(),
            attempts,
            visits(*first, "Collect rollouts"),
            "arn",
            status="RUNNING",
            rounds=2,
        )
    )
    collects = [state for state in story.states if state.phase == "collect"]
    assert [state.round for state in collects] == [1, 2]
    assert [len(state.attempts) for state in collects] == [1, 1]
    assert [state.name for state in story.states if state.status == "waiting"] == list(LINE[3:])
    between = tell(Sources(record(), attempts, visits(*first), "arn", status="RUNNING"))
    assert [one.name for one in between.states if one.status == "waiting"] == list(LINE[2:])


def test_a_run_that_keeps_its_policy_has_no_publishing_to_come() -> None:
    story = tell(
        Sources(
            record(), [], visits(*BEGUN, "Keep current policy"), "arn", status="RUNNING", rounds=1
        )
    )
    assert story.states[-1].name == "Keep current policy"


def test_a_runs_story_tells_what_happened_to_machines() -> None:
    noted = Sources(record(note="machine i-0 is gone"), [], visits(*BEGUN), "arn", status="RUNNING")
    assert tell(noted).note == "machine i-0 is gone"


def test_the_figures_of_a_run_are_its_last_evaluations() -> None:
    assert published().metrics["end_accuracy"] == 0.9
    assert optimizing().metrics == {}


def test_a_phase_taken_over_from_a_retried_run_shows_that_runs_figures() -> None:
    earlier = result("collect", run="r260303-000000-aaaaaa", metrics={"records": 7})
    story = tell(
        Sources(
            record(retry_of="r260303-000000-aaaaaa"),
            [attempt("collect", status="SUCCEEDED")],
            visits(*BEGUN),
            "arn",
            status="RUNNING",
            results={AttemptKey(RUN, 1, "collect", 1): earlier},
        )
    )
    assert story.states[2].attempts[0].metrics == {"records": 7}


@pytest.mark.parametrize("name", names_below(RelayError))
def test_every_error_of_ours_has_a_remedy_of_its_own(name: str) -> None:
    if not hasattr(errors, name):
        pytest.skip("defined by another test")
    assert has_remedy(name)
    assert "{" not in remedy(name, RUN)


@pytest.mark.parametrize("status", sorted(RUN_ENDED - {"PUBLISHED"}))
def test_every_end_without_a_policy_says_what_to_do_live_and_off_a_terminal(status: Any) -> None:
    ended = record(status=status, reason="JobFailed: no", ended_at=at(9))
    story = tell(Sources(record=ended, attempts=[], visits=[], execution="arn"))
    out = io.StringIO()
    Console(file=out, width=500).print(RunDrawing().draw(story, at(10)))
    assert "`relay " in story.remedy
    assert "{" not in story.remedy
    assert f"What to do: {story.remedy}" in out.getvalue()
    assert f"what to do: {story.remedy}" in list(lines_between(None, story))


@pytest.mark.parametrize("status", ["STARTING", "OPEN", "PUBLISHED"])
def test_a_run_that_goes_on_or_went_well_leaves_nothing_to_do(status: Any) -> None:
    story = tell(Sources(record=record(status=status), attempts=[], visits=[], execution="arn"))
    assert story.remedy == ""


def test_an_error_that_nobody_foresaw_still_has_a_remedy() -> None:
    assert f"relay retry {RUN}" in remedy("Lambda.Unknown", RUN)


def test_no_story_tells_what_lets_one_speak_for_a_job() -> None:
    story = optimizing()
    (moving,) = [a.progress for s in story.states for a in s.attempts if a.progress]
    for told in (
        story.model_dump_json(),
        str(story.model_dump()),
        str(story.model_dump(mode="json")),
    ):
        assert "Training" in told
        assert "nonce" not in told
        assert "token" not in told
        assert moving.nonce not in told
