"""A pipeline as it is: what waits is started, what ended closed, what begins kept alive."""

from __future__ import annotations

from datetime import timedelta

from contracts import layout
from contracts.ledger import AttemptRecord, PipelineRecord, RunRecord
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.close_run import close_run
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.hear_job import end_failed, hear_result
from lambdas.logic.submit_attempt import DEADLINE_GRACE_S

STARTING_GRACE_S = 300
RING_AGAIN_AFTER_S = 60


def reconcile_pipeline(pipeline: PipelineRecord, plane: ControlPlane) -> None:
    """Start what waits, close what ended, keep alive what has not yet begun."""
    lease = plane.ledger.runs.lease(pipeline.name)
    run = None if lease is None else plane.ledger.runs.get(lease.run)
    if run is None or run.status == "STARTING":
        # An execution just started may not be shown yet, so a look at it waits a turn.
        ensure_run(pipeline.name, plane)
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
    """Look for a result nobody told of, a silent end, a passed deadline, a slow start.

    A result is written before the job is marked as gone, so the mark is looked for first.
    """
    key = key_of(attempt)
    seen = plane.runner.look(key)
    if plane.objects.head(layout.result(key)) is not None:
        hear_result(key, plane)
        return
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
