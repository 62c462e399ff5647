"""What a job's progress and result objects change: Step Functions first, the ledger second."""

from __future__ import annotations

from typing import Literal

from contracts import layout
from contracts.errors import ContractBroken, PermanentError, TransientError, names_below
from contracts.ledger import ATTEMPT_ENDED, AttemptRecord
from contracts.limits import CAUSE_MAX, STATUS_OBJECT_BYTES_MAX
from contracts.names import AttemptKey
from contracts.progress import Progress
from contracts.result import PhaseResult
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.hand_over import output_of, read_result
from lambdas.logic.tell_uploaders import tell_uploaders

Heard = Literal["told", "late", "fenced", "unknown", "absent", "old"]


def newest_attempt(key: AttemptKey, plane: ControlPlane) -> AttemptRecord | Heard:
    """The attempt that a report is of, if its phase has no newer one with a job."""
    attempts = plane.ledger.attempts.of_phase(key.run, key.round, key.phase)
    with_jobs = [attempt for attempt in attempts if attempt.status != "RESERVED"]
    mine = [attempt for attempt in with_jobs if attempt.attempt == key.attempt]
    if not mine:
        return "unknown"
    return mine[0] if mine[0] is with_jobs[-1] else "fenced"


def hear_progress(key: AttemptKey, plane: ControlPlane) -> Heard:
    """Keep a phase alive by its newest progress."""
    attempt = newest_attempt(key, plane)
    if isinstance(attempt, str):
        return attempt
    stored = plane.objects.get(layout.progress(key), limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None:
        return "absent"
    progress = Progress.from_bytes(stored, where=layout.progress(key))
    if progress.nonce != attempt.nonce:
        return "fenced"
    if attempt.status in ATTEMPT_ENDED:
        return "late"
    if not plane.executions.heartbeat(attempt.token):
        return "late"
    return "told" if plane.ledger.attempts.record_progress(attempt, progress) else "old"


def hear_result(key: AttemptKey, plane: ControlPlane) -> Heard:
    """Answer Step Functions with a job's result, then write it down."""
    attempt = newest_attempt(key, plane)
    if isinstance(attempt, str):
        return attempt
    try:
        result = read_result(layout.result(key), plane)
        if result is None:
            return "absent"
        if result.nonce != attempt.nonce or result.key != key:
            return "fenced"
        heard = _answer(attempt, result, plane)
    except ContractBroken as error:
        # It was put once, so nothing better will come in its place.
        return end_failed(attempt, "ContractBroken", str(error)[:CAUSE_MAX], plane)
    return heard


def _answer(attempt: AttemptRecord, result: PhaseResult, plane: ControlPlane) -> Heard:
    """Step Functions, then the uploaders, then the ledger: until that is done, sweep comes back."""
    if result.outcome == "failed":
        error, cause = _failure(result)
        told = plane.executions.fail(attempt.token, error, cause)
        tell_uploaders(attempt, result, plane)
        now = plane.clock.now()
        plane.ledger.attempts.end(attempt, "FAILED", at=now, error=error, cause=cause)
    else:
        output = output_of(result, layout.result(key_of(attempt)))
        told = plane.executions.succeed(attempt.token, output.to_bytes())
        tell_uploaders(attempt, result, plane)
        now = plane.clock.now()
        plane.ledger.attempts.end(attempt, "SUCCEEDED", at=now, output=output)
    return "told" if told else "late"


def end_failed(attempt: AttemptRecord, error: str, cause: str, plane: ControlPlane) -> Heard:
    """Fail an attempt's task, then write it down."""
    told = plane.executions.fail(attempt.token, error, cause)
    plane.ledger.attempts.end(attempt, "FAILED", at=plane.clock.now(), error=error, cause=cause)
    return "told" if told else "late"


def _failure(result: PhaseResult) -> tuple[str, str]:
    if result.failure is None:
        return "JobCrashed", "the job failed and did not say why"
    known = names_below(PermanentError) + names_below(TransientError)
    error = result.failure.error if result.failure.error in known else "JobFailed"
    return error, result.failure.cause
