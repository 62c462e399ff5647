"""The end of an execution: jobs stopped, the lease freed, then a look for drops."""

from __future__ import annotations

import json

from contracts.errors import PermanentError
from contracts.ledger import ATTEMPT_ENDED, RUN_ENDED, AttemptRecord, RunStatus
from contracts.limits import CAUSE_MAX
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.mark_plan import finish_marking
from lambdas.ports import ExecutionState


def ending(state: ExecutionState) -> tuple[RunStatus, str]:
    """The status and reason of a run whose execution ended without recording its own."""
    why = ": ".join(part for part in (state.error, _words(state.cause)) if part)[:CAUSE_MAX]
    if state.status == "ABORTED":
        return "CANCELLED", why or "the execution was stopped"
    if state.status == "SUCCEEDED":
        return "FAILED", "the execution ended without recording an outcome"
    return "FAILED", why or f"the execution ended as {state.status}"


def _words(cause: str) -> str:
    """What an error says: of a function's, which comes as JSON with its stack, the message."""
    try:
        told = json.loads(cause)
    except ValueError:
        return cause
    message = told.get("errorMessage") if isinstance(told, dict) else None
    return message if isinstance(message, str) else cause


def close_run(run: str, state: ExecutionState | None, plane: ControlPlane) -> None:
    """Close a run whose execution is over; repeating it changes nothing.

    A job that cannot be stopped now, as where the cluster lets nobody in, does not keep the
    pipeline: sweep knows of it and tries on. The order matters: the lease is freed before drops
    are looked for.
    """
    record = plane.ledger.runs.get(run)
    if record is None:
        return
    now = plane.clock.now()
    if record.status not in RUN_ENDED:
        status, reason = (
            ending(state) if state else ("FAILED", "Step Functions knows no such execution")
        )
        plane.ledger.runs.end(run, status, at=now, reason=reason)
        record = plane.ledger.runs.get(run) or record
    for attempt in plane.ledger.attempts.of_run(run):
        if attempt.status not in ATTEMPT_ENDED:
            cause = _stop(attempt, f"run {run} ended as {record.status}", plane)
            plane.ledger.attempts.end(attempt, "STOPPED", at=now, cause=cause)
    finish_marking(record, plane)
    failures = plane.ledger.pipelines.get(record.pipeline).consecutive_failures
    plane.ledger.runs.release(record, failures_before=failures)
    ensure_run(record.pipeline, plane)


def _stop(attempt: AttemptRecord, reason: str, plane: ControlPlane) -> str:
    try:
        plane.runner.stop(key_of(attempt), reason)
    except PermanentError as error:
        return f"the run ended; its job could not be stopped then: {error}"[:CAUSE_MAX]
    return "the run ended"
