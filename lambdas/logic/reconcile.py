"""What events did not tell: found by looking, within bounded work a turn."""

from __future__ import annotations

from datetime import timedelta

from contracts import layout
from contracts.errors import ServiceUnavailable
from contracts.ledger import ATTEMPT_ENDED, RUN_ENDED, AttemptRecord, PipelineRecord, RunRecord
from contracts.names import AttemptKey
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.close_run import close_run
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.hear_job import end_failed, hear_result
from lambdas.logic.submit_attempt import DEADLINE_GRACE_S

PIPELINES_PER_TURN = 200
JOBS_PER_TURN = 500
STARTING_GRACE_S = 300
RING_AGAIN_AFTER_S = 60


def reconcile(plane: ControlPlane) -> dict[str, int]:
    """One turn of the sweep.

    Returns:
        How many pipelines were seen, and how many of them could not be this time.
    """
    seen = failed = 0
    for pipeline in plane.ledger.pipelines.next_for_sweep(PIPELINES_PER_TURN):
        seen += 1
        try:
            reconcile_pipeline(pipeline, plane)
        except ServiceUnavailable:
            failed += 1
    for key in plane.ledger.attempts.possible_jobs(JOBS_PER_TURN):
        reconcile_job(key, plane)
    return {"pipelines": seen, "failed": failed}


def reconcile_pipeline(pipeline: PipelineRecord, plane: ControlPlane) -> None:
    """Start what waits, close what ended, keep alive what has not yet begun."""
    lease = plane.ledger.runs.lease(pipeline.name)
    run = None if lease is None else plane.ledger.runs.get(lease.run)
    if run is None or run.status == "STARTING":
        ensure_run(pipeline.name, plane)
        if run is None:
            return
    state = plane.executions.describe(run.run)
    if state is None and _is_young(run, plane):
        return
    if state is None or state.status != "RUNNING":
        close_run(run.run, state, plane)
        return
    for attempt in plane.ledger.attempts.of_run(run.run):
        if attempt.status in {"SUBMITTED", "RUNNING"}:
            reconcile_attempt(attempt, plane)


def _is_young(run: RunRecord, plane: ControlPlane) -> bool:
    return plane.clock.now() < run.created_at + timedelta(seconds=STARTING_GRACE_S)


def reconcile_attempt(attempt: AttemptRecord, plane: ControlPlane) -> None:
    """Look for a result nobody told of, a silent end, a passed deadline, a slow start."""
    key = key_of(attempt)
    if plane.objects.head(layout.result(key)) is not None:
        hear_result(key, plane)
        return
    seen = plane.runner.look(key)
    now = plane.clock.now()
    if seen.state == "ended":
        end_failed(attempt, "JobCrashed", f"the job ended without a word ({seen.reason})", plane)
    elif now > attempt.deadline + timedelta(seconds=DEADLINE_GRACE_S):
        plane.runner.stop(key, "past its deadline")
        end_failed(attempt, "DeadlineExceeded", f"past its deadline {attempt.deadline}", plane)
    elif attempt.progress is None:
        _wait_for_start(attempt, f"{seen.state}: {seen.reason}", plane)


def _wait_for_start(attempt: AttemptRecord, why: str, plane: ControlPlane) -> None:
    waited = plane.clock.now() - attempt.submitted_at
    if waited > timedelta(seconds=attempt.start_limit_s):
        plane.runner.stop(key_of(attempt), "not started within the limit")
        end_failed(
            attempt,
            "JobNotStarted",
            f"no progress within {attempt.start_limit_s} s ({why}); "
            "raise patience.start_limit_s if that is usual here",
            plane,
        )
        return
    plane.executions.heartbeat(attempt.token)
    if waited > timedelta(seconds=RING_AGAIN_AFTER_S):
        plane.runner.ring(key_of(attempt))


def reconcile_job(key: AttemptKey, plane: ControlPlane) -> None:
    """Stop a job whose run has ended or that is fenced; forget one that is gone."""
    if plane.runner.look(key).state == "ended":
        plane.ledger.attempts.forget_job(key)
        return
    run = plane.ledger.runs.get(key.run)
    attempts = plane.ledger.attempts.of_phase(key.run, key.round, key.phase)
    mine = [attempt for attempt in attempts if attempt.attempt == key.attempt]
    orphaned = run is None or run.status in RUN_ENDED or not mine or mine[0] is not attempts[-1]
    if orphaned:
        plane.runner.stop(key, "its run has ended or a newer attempt took over")
        return
    if mine[0].status in ATTEMPT_ENDED and plane.clock.now() > (
        mine[0].ended_at or mine[0].deadline
    ) + timedelta(seconds=RING_AGAIN_AFTER_S):
        plane.runner.stop(key, "its attempt has ended")
