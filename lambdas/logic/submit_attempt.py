"""One token, one attempt: the job before is gone before the next exists."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field

from contracts.artifact import ArtifactRef
from contracts.errors import PreviousJobStillRunning
from contracts.job import JobSpec
from contracts.ledger import ATTEMPT_ENDED, AttemptRecord
from contracts.model import Contract
from contracts.names import Phase, PipelineName, RunId, attempt_key
from contracts.plan import Plan
from contracts.result import PhaseOutput
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.deadlines import is_overdue, whole_s
from lambdas.logic.hand_over import hand_over, unheard_success
from lambdas.logic.read_plan import open_run, read_plan
from lambdas.logic.submission import Adopt, TakeOver, choose, previous


class Submission(Contract):
    """What the state machine asks for."""

    run: RunId
    pipeline: PipelineName
    round: int = Field(ge=1)
    phase: Phase
    token: str
    inputs: dict[Phase, PhaseOutput]


def submit_attempt(request: Submission, plane: ControlPlane) -> str:
    """Make sure that the token's job exists.

    Returns:
        The job's name; or the key of the result that was handed over instead of a job, from
        the run retried or from an attempt whose word came late.

    Raises:
        RunNotOpen: the run has ended or lost its lease.
        AttemptsExhausted: the phase used up its attempts.
        PreviousJobStillRunning: the job before was told to stop and has not yet, or another
            token is at work on the attempt.
        ContractBroken: a result that is to be handed over is gone or malformed.
    """
    open_run(request.run, plane)
    plan = read_plan(request.run, plane)
    for handoff in plan.handoffs:
        if (handoff.round, handoff.phase) == (request.round, request.phase):
            return hand_over(request.token, handoff.result_key, plane)
    attempts = plane.ledger.attempts.of_phase(request.run, request.round, request.phase)
    done = unheard_success(attempts, request.token, plane)
    if done is not None:
        return hand_over(request.token, done, plane)
    attempt = _claim(request, attempts, plan, plane)
    if attempt.status in ATTEMPT_ENDED:
        return key_of(attempt).job_name
    if attempt.status == "RESERVED":
        _wait_until_gone(previous(attempts, attempt.attempt), plane)
        attempt = _mark_submitted(attempt, plan, plane)
    plane.runner.start(_spec(request, attempt, plan, plane))
    return key_of(attempt).job_name


def _claim(
    request: Submission, attempts: list[AttemptRecord], plan: Plan, plane: ControlPlane
) -> AttemptRecord:
    choice = choose(attempts, request.token, plan.pipeline.attempts)
    if isinstance(choice, Adopt):
        return choice.attempt
    if isinstance(choice, TakeOver):
        if not plane.ledger.attempts.take_over(choice.attempt, request.token):
            return _again(request, choice.attempt.attempt, plane)
        return choice.attempt.model_copy(update={"token": request.token})
    patience = plan.pipeline.patience
    now = plane.clock.now()
    key = attempt_key(request.run, request.round, request.phase, choice.number)
    fresh = AttemptRecord(
        run=key.run,
        pipeline=request.pipeline,
        round=key.round,
        phase=key.phase,
        attempt=key.attempt,
        token=request.token,
        nonce=plane.clock.nonce(),
        status="RESERVED",
        submitted_at=now,
        start_limit_s=patience.start_limit_s,
        queue_limit_s=patience.queue_limit_s,
        timeout_s=patience.timeout_s,
        deadline=_deadline(now, plan, plane),
    )
    if not plane.ledger.attempts.reserve(fresh):
        return _again(request, choice.number, plane)
    return fresh


def _again(request: Submission, number: int, plane: ControlPlane) -> AttemptRecord:
    """A refused write was our own, whose answer was lost; or another token was faster.

    Which of two tokens is still waited for cannot be seen from here. So the loser tries again
    if it is: a token that is not is heard by nobody.
    """
    attempts = plane.ledger.attempts.of_phase(request.run, request.round, request.phase)
    for attempt in attempts:
        if (attempt.attempt, attempt.token) == (number, request.token):
            return attempt
    raise PreviousJobStillRunning(f"attempt {number} of {request.phase} went to another token")


def _wait_until_gone(before: AttemptRecord | None, plane: ControlPlane) -> None:
    if before is None:
        return
    key = key_of(before)
    now = plane.clock.now()
    plane.runner.stop(key, "a newer attempt takes over")
    seen = plane.runner.look(key)
    gone = seen.state in {"ended", "absent"} or is_overdue(before.deadline, now)
    if not gone:
        raise PreviousJobStillRunning(f"{key.job_name} is {seen.state}: {seen.reason}")
    plane.ledger.attempts.end(before, "STOPPED", at=now, cause="a newer attempt took over")


def _mark_submitted(attempt: AttemptRecord, plan: Plan, plane: ControlPlane) -> AttemptRecord:
    now = plane.clock.now()
    deadline = _deadline(now, plan, plane)
    if not plane.ledger.attempts.mark_submitted(attempt, at=now, deadline=deadline):
        raise PreviousJobStillRunning(f"{key_of(attempt).job_name} went on with another token")
    return attempt.model_copy(
        update={"status": "SUBMITTED", "submitted_at": now, "deadline": deadline}
    )


def _deadline(now: datetime, plan: Plan, plane: ControlPlane) -> datetime:
    patience = plan.pipeline.patience
    return now + timedelta(seconds=whole_s(patience, queues=plane.runner.queues))


def _spec(request: Submission, attempt: AttemptRecord, plan: Plan, plane: ControlPlane) -> JobSpec:
    inputs: dict[str, ArtifactRef] = {}
    for output in request.inputs.values():
        inputs |= output.artifacts
    settings: dict[str, Any] = {
        "pipeline": request.pipeline,
        "workspace": str(PurePosixPath(plane.workspace_root) / request.run),
        "bucket": plane.objects.bucket,
        "progress_interval_s": plane.progress_interval_s,
    }
    return JobSpec(
        run=attempt.run,
        round=attempt.round,
        phase=attempt.phase,
        attempt=attempt.attempt,
        nonce=attempt.nonce,
        inputs=inputs,
        last_round=request.round == len(plan.pipeline.rounds),
        hardware=plan.pipeline.hardware,
        deadline=attempt.deadline,
        timeout_s=attempt.timeout_s if plane.runner.queues else None,
        **settings,
    )
