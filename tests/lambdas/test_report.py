"""What jobs and executions say: Step Functions is answered first, the ledger second."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes import events
from fakes.world import World

from contracts import layout
from contracts.ledger import AttemptRecord
from contracts.limits import RESULT_BYTES_MAX, STATUS_OBJECT_BYTES_MAX
from contracts.names import AttemptKey
from contracts.rejection import Rejection

_ALL = 1 << 30


@pytest.fixture
def job(world: World) -> AttemptKey:
    """A job of `collect` that was submitted and claimed."""
    run = world.start_run()
    world.graph.step(run)
    world.agent.answer_bell()
    (key,) = world.agent.jobs
    return key


def attempt(world: World, key: AttemptKey) -> AttemptRecord:
    (found,) = [it for it in world.attempts(key.run) if it.attempt == key.attempt]
    return found


def told(world: World, key: AttemptKey, name: str) -> str:
    """The message that tells of an attempt's object."""
    return events.created(world.objects.bucket, layout.attempt_object(key, name), "v", 10)


def put(world: World, key: AttemptKey, name: str, **changes: Any) -> None:
    """Have the job write its object, with some of it changed."""
    if name == "progress.json":
        world.agent.report_progress(key)
    else:
        world.agent.finish(key, "succeeded")
    place = layout.attempt_object(key, name)
    body = json.loads(world.objects.versions[place][-1][1]) | changes
    world.objects.versions[place][-1] = ("v", json.dumps(body).encode())
    world.mail = []


def test_progress_keeps_the_task_alive_and_is_remembered(world: World, job: AttemptKey) -> None:
    world.agent.report_progress(job)
    world.agent.report_progress(job)
    world.deliver_all()
    record = attempt(world, job)
    task = world.executions.tasks[record.token]
    assert task.heartbeats == 2
    assert record.status == "RUNNING"
    assert record.progress is not None
    assert record.progress.sequence == 2
    assert world.counted["ReportTold"] == 1
    assert world.counted["ReportOld"] == 1


def test_older_progress_never_replaces_newer(world: World, job: AttemptKey) -> None:
    put(world, job, "progress.json", sequence=7, stage="Learning")
    assert world.deliver("reports", told(world, job, "progress.json")) == []
    put(world, job, "progress.json", sequence=6, stage="Waking up")
    assert world.deliver("reports", told(world, job, "progress.json")) == []
    record = attempt(world, job)
    assert record.progress is not None
    assert (record.progress.sequence, record.progress.stage) == (7, "Learning")
    # Two reports at the same time both have read the record from before.
    stale = record.model_copy(update={"progress": None})
    older = record.progress.model_copy(update={"sequence": 5})
    assert not world.ledger.attempts.record_progress(stale, older)


def test_a_result_answers_the_task_with_references_only(world: World, job: AttemptKey) -> None:
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    record = attempt(world, job)
    outcome = world.executions.tasks[record.token].outcome
    assert outcome is not None
    assert outcome.succeeded
    assert json.loads(outcome.output)["result_key"] == layout.result(job)
    assert set(json.loads(outcome.output)) == {"outcome", "artifacts", "result_key"}
    assert record.status == "SUCCEEDED"
    assert record.output is not None


def test_a_result_before_any_progress_is_taken(world: World, job: AttemptKey) -> None:
    world.agent.report_progress(job)
    world.agent.finish(job, "succeeded")
    world.mail.reverse()
    world.deliver_all()
    record = attempt(world, job)
    assert record.status == "SUCCEEDED"
    assert record.progress is None
    assert world.counted["ReportLate"] == 1


@pytest.mark.parametrize("name", ["progress.json", "result.json"])
def test_a_wrong_nonce_changes_nothing(world: World, job: AttemptKey, name: str) -> None:
    before = attempt(world, job)
    put(world, job, name, nonce="a nonce that somebody made up")
    assert world.deliver("reports", told(world, job, name)) == []
    assert attempt(world, job) == before
    task = world.executions.tasks[before.token]
    assert (task.heartbeats, task.outcome) == (0, None)
    assert world.counted["ReportFenced"] == 1


def test_a_result_that_names_another_attempt_changes_nothing(world: World, job: AttemptKey) -> None:
    put(world, job, "result.json", phase="optimize")
    assert world.deliver("reports", told(world, job, "result.json")) == []
    assert attempt(world, job).status == "SUBMITTED"
    assert world.counted["ReportFenced"] == 1


def test_an_older_attempt_is_fenced(world: World, job: AttemptKey) -> None:
    still_there = world.agent.jobs[job]
    world.agent.kill_job(job)
    world.deliver_all()
    world.graph.step(job.run)
    world.graph.step(job.run)
    second = attempt(world, job._replace(attempt=2))
    del world.objects.versions[layout.result(job)]
    world.agent.jobs[job] = still_there
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    assert world.counted["ReportFenced"] == 1
    assert attempt(world, job._replace(attempt=2)) == second
    assert attempt(world, job).status == "FAILED"


def test_a_repeated_result_is_late_and_changes_nothing(world: World, job: AttemptKey) -> None:
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    before = dict(world.table.items)
    assert world.deliver("reports", told(world, job, "result.json")) == []
    assert world.table.items == before
    assert world.counted["ReportLate"] == 1


def test_a_token_that_is_no_longer_waited_for_is_no_error(world: World, job: AttemptKey) -> None:
    world.executions.expire(attempt(world, job).token)
    world.agent.report_progress(job)
    world.deliver_all()
    assert attempt(world, job).progress is None
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    assert world.mail == []
    assert attempt(world, job).status == "SUCCEEDED"
    assert world.counted["ReportLate"] == 2


def test_a_crash_between_step_functions_and_the_ledger_is_mended_by_the_repeat(
    world: World, job: AttemptKey
) -> None:
    world.agent.finish(job, "succeeded")
    world.faults.arm(1, "after")
    world.deliver_all()
    token = attempt(world, job).token
    outcome = world.executions.tasks[token].outcome
    assert outcome is not None, "Step Functions is answered first"
    assert attempt(world, job).status == "SUBMITTED"
    world.deliver_all()
    assert attempt(world, job).status == "SUCCEEDED"
    assert world.executions.tasks[token].outcome == outcome


@pytest.mark.parametrize(
    ("error", "heard"),
    [
        ("JobFailed", "JobFailed"),
        ("DataUnusable", "DataUnusable"),
        ("JobCrashed", "JobCrashed"),
        ("SomethingOfTheirOwn", "JobFailed"),
        ("RelayError", "JobFailed"),
    ],
)
def test_a_failure_keeps_its_name_if_the_state_machine_knows_it(
    world: World, job: AttemptKey, error: str, heard: str
) -> None:
    put(
        world,
        job,
        "result.json",
        outcome="failed",
        failure={"error": error, "cause": "line 3: no answer"},
        artifacts={},
    )
    assert world.deliver("reports", told(world, job, "result.json")) == []
    record = attempt(world, job)
    outcome = world.executions.tasks[record.token].outcome
    assert outcome is not None
    assert (outcome.error, outcome.cause) == (heard, "line 3: no answer")
    assert (record.status, record.error) == ("FAILED", heard)


def test_a_failure_without_a_reason_is_a_crash(world: World, job: AttemptKey) -> None:
    put(world, job, "result.json", outcome="failed", failure=None, artifacts={})
    world.deliver("reports", told(world, job, "result.json"))
    assert attempt(world, job).error == "JobCrashed"


UNREADABLE = [
    b"no json",
    b'{"run": "r"}',
    b"\xff\xfe\xfa",
    b'{"a": ' * 50_000,
    b" " * (RESULT_BYTES_MAX + 1),
]


@pytest.mark.parametrize("body", UNREADABLE, ids=["text", "fields", "bytes", "deep", "large"])
def test_an_unreadable_result_ends_the_phase_at_once(
    world: World, job: AttemptKey, body: bytes
) -> None:
    """It was put once, so waiting for a better one would only cost patience."""
    world.objects.put(layout.result(job), body)
    world.deliver_all()
    record = attempt(world, job)
    outcome = world.executions.tasks[record.token].outcome
    assert outcome is not None
    assert outcome.error == "ContractBroken"
    assert layout.result(job) in outcome.cause
    assert (record.status, record.error) == ("FAILED", "ContractBroken")


def test_a_result_with_more_than_a_state_may_carry_ends_the_phase(
    world: World, job: AttemptKey
) -> None:
    ref = {"kind": "checkpoint", "uri": "file:///w/" + "x" * 900 + "/", "manifest": "0" * 64}
    put(world, job, "result.json", artifacts={f"a{n}": ref for n in range(300)})
    world.deliver("reports", told(world, job, "result.json"))
    assert attempt(world, job).error == "ContractBroken"


def test_unreadable_progress_fails_its_message_and_nothing_else(
    world: World, job: AttemptKey
) -> None:
    world.objects.put(layout.progress(job), b" " * (STATUS_OBJECT_BYTES_MAX + 1))
    before = attempt(world, job)
    assert world.deliver("reports", told(world, job, "progress.json")) == ["m0"]
    assert attempt(world, job) == before


def test_reports_on_drops_are_written_for_their_uploaders(world: World, job: AttemptKey) -> None:
    world.agent.finish(job, "succeeded")
    world.deliver_all()
    (drop,) = [item for (_, sk), item in world.table.items.items() if sk == "DROP"]
    rest = drop["key"].removeprefix("incoming/tone/")
    body = world.objects.get(layout.rejection("tone", rest, drop["version_id"]), limit=_ALL)
    assert body is not None
    report = Rejection.from_bytes(body, where="rejected/")
    assert (report.refused_by, report.run) == ("collect", job.run)
    assert (report.records, report.usable, report.problem_count) == (2, 1, 1)
    assert report.problems[0].line == 1


def test_an_attempt_nobody_knows_is_counted_and_left(world: World) -> None:
    key = AttemptKey("r260304-050607-nobody", 1, "collect", 1)
    assert world.deliver("reports", told(world, key, "result.json")) == []
    assert world.counted == {"ReportUnknown": 1}


@pytest.mark.parametrize(
    "key",
    [
        "incoming/tone/result.json",
        "runs/r260304-050607-abcdef/result.json",
        "runs/r260304-050607-abcdef/01-collect-1/result.json",
        "runs/r260304-050607-abcdef/1-collect-1/result.json\n",
        "runs/r260304-050607-abcdef/1-dream-1/result.json",
        "runs/r260304-050607-abcdef/0-collect-1/result.json",
        "runs/../1-collect-1/progress.json",
        "rejected/tone/result.json",
    ],
)
def test_keys_that_are_no_report_are_ignored_and_counted(world: World, key: str) -> None:
    body = events.created(world.objects.bucket, key, "v", 5)
    assert world.deliver("reports", body) == []
    assert world.counted == {"ReportIgnored": 1}


def test_a_report_of_another_bucket_is_ignored(world: World, job: AttemptKey) -> None:
    put(world, job, "result.json")
    body = told(world, job, "result.json").replace(world.objects.bucket, "elsewhere")
    assert world.deliver("reports", body) == []
    assert attempt(world, job).status == "SUBMITTED"
    assert world.counted["ReportIgnored"] == 1


def test_the_end_of_an_execution_closes_its_run_and_stops_its_jobs(
    world: World, job: AttemptKey
) -> None:
    world.graph.abort(job.run)
    world.tell_ends()
    world.deliver_all()
    (run,) = world.runs("tone")
    assert (run.status, run.reason) == ("CANCELLED", "the execution was stopped")
    assert world.objects.head(layout.stop(job)) is not None
    assert attempt(world, job).status == "STOPPED"
    assert world.ledger.runs.lease("tone") is None


@pytest.mark.parametrize(
    ("status", "error", "cause", "reason"),
    [
        ("FAILED", "JobFailed", "no answer", "JobFailed: no answer"),
        ("TIMED_OUT", "", "", "the execution ended as TIMED_OUT"),
        ("SUCCEEDED", "", "", "the execution ended without recording an outcome"),
    ],
)
def test_a_failed_execution_fails_its_run_with_its_words(
    world: World, job: AttemptKey, status: Any, error: str, cause: str, reason: str
) -> None:
    world.executions.end(job.run, status, error, cause)
    world.tell_ends()
    world.deliver_all()
    (run,) = world.runs("tone")
    assert (run.status, run.reason) == ("FAILED", reason)


def test_an_end_that_cannot_be_seen_yet_is_told_again(world: World, job: AttemptKey) -> None:
    """DescribeExecution may lag behind the event."""
    body = events.execution_ended(job.run, "FAILED")
    assert world.deliver("reports", body) == ["m0"]
    assert world.runs("tone")[0].status == "OPEN"


def test_an_end_of_an_unknown_run_changes_nothing(world: World) -> None:
    world.deliver("reports", events.execution_ended("r260304-050607-nobody", "FAILED"))
    assert world.table.items == {}


def test_a_drop_that_waited_for_the_end_of_a_run_starts_the_next(
    world: World, job: AttemptKey
) -> None:
    world.upload("incoming/tone/late.jsonl", b'{"a": 1}')
    world.deliver_all()
    assert len(world.runs("tone")) == 1
    world.executions.end(job.run, "FAILED", "JobFailed", "")
    world.tell_ends()
    world.deliver_all()
    assert [run.status for run in world.runs("tone")] == ["FAILED", "OPEN"]


@pytest.mark.parametrize("bad", ["", "no json", "{}", '{"Records": []}', "[1]"])
def test_a_bad_message_fails_alone(world: World, job: AttemptKey, bad: str) -> None:
    put(world, job, "result.json")
    body = told(world, job, "result.json")
    assert world.deliver("reports", bad, body) == ["m0"]
    assert attempt(world, job).status == "SUCCEEDED"


@pytest.mark.parametrize("detail", ["{}", "null", "[]", '{"name": 5}', '{"name": ""}'])
def test_a_status_event_without_a_name_fails_alone(world: World, detail: str) -> None:
    body = '{"detail-type": "Step Functions Execution Status Change", "detail": ' + detail + "}"
    assert world.deliver("reports", body) == ["m0"]
