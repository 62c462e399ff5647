"""One token, one attempt; the job before is gone before the next exists."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from fakes.agent import Ending
from fakes.context import CONTEXT
from fakes.faults import Crash
from fakes.recipes import pipeline
from fakes.world import World

import lambdas.submit.handler
from contracts import layout
from contracts.errors import (
    AttemptsExhausted,
    ContractBroken,
    PreviousJobStillRunning,
    RunNotOpen,
)
from contracts.job import JobSpec
from contracts.ledger import AttemptRecord
from contracts.names import AttemptKey
from lambdas.logic.retry_run import retry_run

_ALL = 1 << 30


def submit(world: World, run: str, token: str, phase: str = "collect") -> str:
    payload: dict[str, Any] = {
        "run": run,
        "pipeline": "tone",
        "round": 1,
        "phase": phase,
        "token": token,
        "inputs": {},
    }
    job: str = lambdas.submit.handler.handler(payload, CONTEXT)["job"]
    return job


def jobs(world: World) -> list[str]:
    return sorted(key for key in world.objects.versions if key.endswith("/job.json"))


def spec_of(world: World, key: AttemptKey) -> JobSpec:
    body = world.objects.get(layout.job(key), limit=_ALL)
    assert body is not None
    return JobSpec.from_bytes(body, where="job.json")


def newest(world: World, run: str) -> AttemptRecord:
    return world.attempts(run)[-1]


def test_a_token_becomes_a_job_with_all_it_needs_to_know(world: World) -> None:
    run = world.start_run()
    token = world.executions.issue(run)
    assert submit(world, run, token) == f"{run}-1-collect-1"
    spec = spec_of(world, AttemptKey(run, 1, "collect", 1))
    attempt = newest(world, run)
    assert (spec.nonce, spec.deadline) == (attempt.nonce, attempt.deadline)
    assert spec.workspace == f"/workspace/{run}"
    assert spec.bucket == world.objects.bucket
    assert spec.last_round
    assert spec.timeout_s is None, "the deadline is as early where nothing queues"
    assert (attempt.status, attempt.token) == ("SUBMITTED", token)
    assert world.queue.jobs == [layout.job(spec.key)]


def test_the_same_token_twice_is_one_job(world: World) -> None:
    run = world.start_run()
    token = world.executions.issue(run)
    first = submit(world, run, token)
    world.clock.advance(100)
    assert submit(world, run, token) == first
    assert jobs(world) == [layout.job(AttemptKey(run, 1, "collect", 1))]
    assert len(world.objects.versions[jobs(world)[0]]) == 1
    assert len(world.attempts(run)) == 1


@pytest.mark.parametrize("crash_at", [1, 2, 3, 4])
def test_a_token_that_crashed_at_any_effect_still_gets_its_one_job(
    world: World, crash_at: int
) -> None:
    run = world.start_run()
    token = world.executions.issue(run)
    world.faults.arm(crash_at, "after")
    with pytest.raises(Crash):
        submit(world, run, token)
    assert submit(world, run, token) == f"{run}-1-collect-1"
    assert len(jobs(world)) == 1
    assert newest(world, run).status == "SUBMITTED"


def test_a_new_token_waits_until_the_job_before_is_gone(world: World) -> None:
    run = world.start_run()
    submit(world, run, world.executions.issue(run))
    world.agent.answer_bell()
    key = AttemptKey(run, 1, "collect", 1)
    second = world.executions.issue(run)
    with pytest.raises(PreviousJobStillRunning, match=f"{key.job_name} is running: claimed by"):
        submit(world, run, second)
    assert world.objects.head(layout.stop(key)) is not None
    assert newest(world, run).status == "RESERVED"
    third = world.executions.issue(run)
    with pytest.raises(PreviousJobStillRunning):
        submit(world, run, third)
    assert len(jobs(world)) == 1
    world.agent.look(key)
    fourth = world.executions.issue(run)
    assert submit(world, run, fourth) == f"{run}-1-collect-2"
    first, taken_over = world.attempts(run)
    assert (first.status, taken_over.status) == ("STOPPED", "SUBMITTED")
    assert taken_over.token == fourth
    assert len(jobs(world)) == 2


def test_a_job_that_nobody_claimed_is_gone_as_soon_as_it_is_stopped(world: World) -> None:
    run = world.start_run()
    submit(world, run, world.executions.issue(run))
    assert submit(world, run, world.executions.issue(run)) == f"{run}-1-collect-2"
    world.agent.answer_bell()
    world.agent.answer_bell()
    assert world.agent.started == [AttemptKey(run, 1, "collect", 2)]


def test_a_job_of_a_dead_agent_is_waited_for_no_longer_than_to_its_deadline(world: World) -> None:
    run = world.start_run()
    submit(world, run, world.executions.issue(run))
    world.agent.answer_bell()
    world.agent.alive = False
    deadline_s = pipeline("tone").patience.timeout_s
    world.clock.advance(deadline_s + 60)
    with pytest.raises(PreviousJobStillRunning):
        submit(world, run, world.executions.issue(run))
    world.clock.advance(61)
    assert submit(world, run, world.executions.issue(run)) == f"{run}-1-collect-2"


def test_a_phase_that_used_up_its_attempts_ends_with_the_last_one_s_cause(world: World) -> None:
    run = world.start_run()
    for _ in range(3):
        submit(world, run, world.executions.issue(run))
        world.agent.answer_bell()
        world.agent.finish(newest_key(world), "JobCrashed")
        world.deliver_all()
    with pytest.raises(AttemptsExhausted, match="used its 3 attempts; the last: JobCrashed"):
        submit(world, run, world.executions.issue(run))
    assert len(jobs(world)) == 3


def newest_key(world: World) -> AttemptKey:
    return max(world.agent.jobs)


def test_a_bell_that_does_not_ring_costs_no_attempt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each new token would be another attempt, and all of them gone within seconds."""

    def away(**_given: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://sqs")

    run = world.start_run()
    with monkeypatch.context() as patched:
        patched.setattr(world.queue, "send_message", away)
        assert submit(world, run, world.executions.issue(run)) == f"{run}-1-collect-1"
    assert world.queue.jobs == []
    world.clock.advance(61)
    world.sweep()
    world.agent.answer_bell()
    assert world.agent.started == [AttemptKey(run, 1, "collect", 1)]


def test_a_bell_that_may_not_be_rung_is_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(**_given: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "SendMessage")

    run = world.start_run()
    monkeypatch.setattr(world.queue, "send_message", denied)
    with pytest.raises(ClientError):
        submit(world, run, world.executions.issue(run))


def test_waiting_for_a_job_uses_up_no_attempt(world: World) -> None:
    run = world.start_run()
    submit(world, run, world.executions.issue(run))
    world.agent.answer_bell()
    for _ in range(30):
        with pytest.raises(PreviousJobStillRunning):
            submit(world, run, world.executions.issue(run))
    assert [attempt.attempt for attempt in world.attempts(run)] == [1, 2]


def test_a_token_that_lost_a_race_for_an_attempt_may_try_again(world: World) -> None:
    """Whether it is still waited for cannot be seen; if it is, its state must not fail for good."""
    run = world.start_run()
    reserve = world.plane.ledger.attempts.reserve
    slow, fast = world.executions.issue(run), world.executions.issue(run)

    def overtaken(record: AttemptRecord) -> bool:
        world.ledger.attempts.reserve(record.model_copy(update={"token": fast}))
        return reserve(record)

    world.plane.ledger.attempts.reserve = overtaken  # type: ignore[method-assign]
    with pytest.raises(PreviousJobStillRunning, match="went to another token"):
        submit(world, run, slow)
    world.plane.ledger.attempts.reserve = reserve  # type: ignore[method-assign]
    assert submit(world, run, slow) == f"{run}-1-collect-1"
    assert [it.token for it in world.attempts(run)] == [slow]


def test_a_reservation_whose_answer_was_lost_is_known_again(world: World) -> None:
    """The SDK repeats a write whose answer it missed, and the condition refuses the repeat."""
    run = world.start_run()
    reserve = world.plane.ledger.attempts.reserve

    def twice(record: AttemptRecord) -> bool:
        assert reserve(record)
        return reserve(record)

    world.plane.ledger.attempts.reserve = twice  # type: ignore[method-assign]
    assert submit(world, run, world.executions.issue(run)) == f"{run}-1-collect-1"


def test_a_run_that_ended_gets_no_job_and_its_redrive_is_told_what_to_do(world: World) -> None:
    run = world.start_run()
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    with pytest.raises(RunNotOpen, match=f"cannot be redriven; use `relay retry {run}`"):
        submit(world, run, "token")
    assert jobs(world) == []


def test_a_run_that_lost_its_lease_gets_no_job(world: World) -> None:
    run = world.start_run()
    del world.table.items[("PIPELINE#tone", "LEASE")]
    with pytest.raises(RunNotOpen):
        submit(world, run, "token")


def test_an_unknown_run_gets_no_job(world: World) -> None:
    with pytest.raises(RunNotOpen, match="knows no run"):
        submit(world, "r260304-050607-nobody", "token")


@pytest.mark.parametrize("phase", ["collect", "optimize", "evaluate"])
def test_work_whose_word_came_late_is_not_done_twice(world: World, phase: str) -> None:
    """The job succeeded, but Step Functions lost patience before it heard so."""
    run = world.start_run()
    world.until(run, phase)
    world.agent.answer_bell()
    key = AttemptKey(run, 1, phase, 1)  # type: ignore[arg-type]
    world.agent.finish(key, "succeeded")
    world.mail = []
    world.clock.advance(pipeline("tone").patience.heartbeat_s + 1)
    world.graph.step(run)
    world.graph.step(run)
    world.graph.step(run)
    assert len(world.attempts(run)) == {"collect": 1, "optimize": 2, "evaluate": 3}[phase]
    assert world.graph.walks[run].at != phase
    world.end_run(run)
    assert world.runs("tone")[0].status == "PUBLISHED"


@pytest.mark.parametrize("ending", ["JobFailed", "JobCrashed"])
def test_a_failed_job_s_result_is_not_taken_for_a_success(world: World, ending: Ending) -> None:
    run = world.start_run()
    submit(world, run, world.executions.issue(run))
    world.agent.answer_bell()
    world.agent.finish(newest_key(world), ending)
    assert submit(world, run, world.executions.issue(run)) == f"{run}-1-collect-2"


def test_a_result_with_another_nonce_is_not_taken_for_a_success(world: World) -> None:
    run = world.start_run()
    submit(world, run, world.executions.issue(run))
    world.agent.answer_bell()
    key = newest_key(world)
    job = world.agent.jobs[key]
    job.spec = job.spec.model_copy(update={"nonce": "somebody else's nonce"})
    world.agent.finish(key, "succeeded")
    token = world.executions.issue(run)
    assert submit(world, run, token) == f"{run}-1-collect-2"
    assert world.executions.tasks[token].outcome is None


def test_a_retry_takes_over_what_was_done_and_runs_the_rest(world: World) -> None:
    run = world.start_run()
    world.until(run, "optimize")
    world.agent.answer_bell()
    world.agent.finish(AttemptKey(run, 1, "optimize", 1), "JobFailed")
    world.end_run(run)
    retried = retry_run(run, world.plane)
    world.end_run(retried)
    assert [run.status for run in world.runs("tone")] == ["FAILED", "PUBLISHED"]
    phases = [(attempt.phase, attempt.attempt) for attempt in world.attempts(retried)]
    assert phases == [("evaluate", 1), ("optimize", 1)]


def test_a_handoff_that_is_gone_fails_for_good(world: World) -> None:
    run = world.start_run()
    world.until(run, "optimize")
    world.agent.answer_bell()
    world.agent.finish(AttemptKey(run, 1, "optimize", 1), "JobFailed")
    world.end_run(run)
    retried = retry_run(run, world.plane)
    world.graph.step(retried)
    del world.objects.versions[layout.result(AttemptKey(run, 1, "collect", 1))]
    with pytest.raises(ContractBroken, match="cannot be taken over"):
        submit(world, retried, world.executions.issue(retried))


def test_neither_token_nor_nonce_is_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="relay")
    run = world.start_run()
    token = world.executions.issue(run)
    submit(world, run, token)
    with pytest.raises(ValueError, match="phase") as wrong:
        submit(world, run, token, phase="dream")
    told = str([vars(record) for record in caplog.records]) + str(wrong.value)
    assert "submitted" in told
    assert token not in told
    assert newest(world, run).nonce not in told
