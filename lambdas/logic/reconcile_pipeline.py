"""A pipeline as it is: what waits is started, what ended closed, what begins kept alive."""

from __future__ import annotations

from datetime import datetime, timedelta

from contracts import layout
from contracts.ledger import AttemptRecord, PipelineRecord, Repair, RunRecord
from contracts.limits import CAUSE_MAX, WAITING_MAX
from contracts.names import AttemptKey
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.close_run import close_run
from lambdas.logic.deadlines import is_overdue, over_at
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.hear_job import end_failed, hear_result
from lambdas.logic.node_event import with_patience
from lambdas.logic.silence import is_silent
from lambdas.ports import Look

STARTING_GRACE_S = 300
RING_AGAIN_AFTER_S = 60
_BEFORE_THE_START = frozenset({"queued", "waiting"})
"""A job with progress comes back here when the cluster's queue took its room away."""


def reconcile_pipeline(
    pipeline: PipelineRecord, plane: ControlPlane, repair: Repair | None = None
) -> int:
    """Start what waits, close what ended, keep alive what has not yet begun.

    Args:
        pipeline: which.
        plane: everything outside.
        repair: what last happened to the cluster's machines.

    Returns:
        How many phases are without progress for long.
    """
    lease = plane.ledger.runs.lease(pipeline.name)
    run = None if lease is None else plane.ledger.runs.get(lease.run)
    if run is None or run.status == "STARTING":
        # An execution just started may not be shown yet, so a look at it waits a turn.
        ensure_run(pipeline.name, plane)
        return 0
    state = plane.executions.describe(run.run)
    if state is None and _is_young(run, plane):
        return 0
    if state is None or state.status != "RUNNING":
        close_run(run.run, state, plane)
        return 0
    run = with_patience(run, repair, plane)
    attempts = plane.ledger.attempts.of_run(run.run)
    live = [attempt for attempt in attempts if attempt.status in {"SUBMITTED", "RUNNING"}]
    now = plane.clock.now()
    patient = run.patient_until is not None and now < run.patient_until
    for attempt in live:
        reconcile_attempt(attempt, plane, patient=patient)
    return sum(is_silent(attempt, now) for attempt in live)


def _is_young(run: RunRecord, plane: ControlPlane) -> bool:
    return plane.clock.now() < run.created_at + timedelta(seconds=STARTING_GRACE_S)


def reconcile_attempt(
    attempt: AttemptRecord, plane: ControlPlane, *, patient: bool = False
) -> None:
    """Look for a result nobody told of, a silent end, a passed deadline, a slow start.

    A result is written before the job is marked as gone, so the mark is looked for first.

    Args:
        attempt: that is not known to have ended.
        plane: everything outside.
        patient: whether machines are being repaired, so that silence and a slow start are borne.
    """
    key = key_of(attempt)
    seen = plane.runner.look(key)
    if plane.objects.head(layout.result(key)) is not None:
        hear_result(key, plane)
        return
    now = plane.clock.now()
    if seen.state == "ended":
        end_failed(attempt, seen.error, _without_a_word(key, seen, plane), plane)
    elif is_overdue(over := over_at(attempt, queued=seen.state == "queued"), now):
        plane.runner.stop(key, "past its deadline")
        end_failed(attempt, "DeadlineExceeded", f"past its deadline, {over:%F %T %Z}", plane)
    elif attempt.progress is None or seen.state in _BEFORE_THE_START:
        _wait_for_start(attempt, seen, plane, patient=patient)
    elif patient:
        plane.executions.heartbeat(attempt.token)


def _without_a_word(key: AttemptKey, seen: Look, plane: ControlPlane) -> str:
    words = plane.runner.last_words(key)
    told = f"the job ended without a word ({seen.reason})"
    return f"{told[: CAUSE_MAX - len(words) - 2]}; {words}" if words else told[:CAUSE_MAX]


def _wait_for_start(
    attempt: AttemptRecord, seen: Look, plane: ControlPlane, *, patient: bool
) -> None:
    """Keep an attempt alive that waits, each wait for its own time: in the queue, and after it."""
    now = plane.clock.now()
    why = f"{seen.state}: {seen.reason}"
    limit = None if patient else _passed_limit(attempt, seen, now)
    if limit is not None:
        plane.runner.stop(key_of(attempt), "not started within the limit")
        end_failed(attempt, "JobNotStarted", f"no progress within {limit} ({why})", plane)
        return
    plane.executions.heartbeat(attempt.token)
    _note(attempt, "" if seen.state == "running" else why[:WAITING_MAX], seen, plane)
    if now - attempt.submitted_at > timedelta(seconds=RING_AGAIN_AFTER_S):
        plane.runner.ring(key_of(attempt))


def _note(attempt: AttemptRecord, waiting: str, seen: Look, plane: ControlPlane) -> None:
    """Write down why it waits, if that changed, and that it queues, for its limits."""
    queued_at = plane.clock.now() if seen.state == "queued" else None
    if queued_at or waiting != attempt.waiting:
        plane.ledger.attempts.note_waiting(attempt, waiting, queued_at=queued_at)


def _passed_limit(attempt: AttemptRecord, seen: Look, now: datetime) -> str | None:
    """The limit that is over, with its remedy; the start is not counted while it queues."""
    began = attempt.progress.at if attempt.progress else attempt.submitted_at
    limit_s, name = attempt.queue_limit_s, "queue_limit_s"
    if seen.state != "queued":
        limit_s, name = attempt.start_limit_s, "start_limit_s"
        began = max(began, attempt.queued_at or began)
    if now - began <= timedelta(seconds=limit_s):
        return None
    return f"{limit_s} s; raise patience.{name} if that is usual here"
