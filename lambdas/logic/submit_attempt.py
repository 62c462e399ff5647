"""One token, one attempt: the job before is gone before the next exists."""

from __future__ import annotations

from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field

from contracts.artifact import ArtifactRef
from contracts.errors import AttemptFenced, ContractBroken, PreviousJobStillRunning
from contracts.job import JobSpec
from contracts.ledger import ATTEMPT_ENDED, AttemptRecord
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.model import Contract
from contracts.names import Phase, PipelineName, RunId, attempt_key
from contracts.plan import Plan
from contracts.result import PhaseOutput, PhaseResult
from lambdas.control_plane import ControlPlane
from lambdas.ledger.attempts import key_of
from lambdas.logic.plan_run import open_run, read_plan
from lambdas.logic.submission import Adopt, TakeOver, choose, previous

DEADLINE_GRACE_S = 120


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
        The job's name; or the key of the result that was handed over instead of a job.

    Raises:
        RunNotOpen: the run has ended or lost its lease.
        AttemptsExhausted: the phase used up its attempts.
        PreviousJobStillRunning: the job before was told to stop and has not yet.
        AttemptFenced: another token took the attempt over meanwhile.
    """
    open_run(request.run, plane)
    plan = read_plan(request.run, plane)
    for handoff in plan.handoffs:
        if (handoff.round, handoff.phase) == (request.round, request.phase):
            return _hand_over(request.token, handoff.result_key, plane)
    attempts = plane.ledger.attempts.of_phase(request.run, request.round, request.phase)
    attempt = _claim(request, attempts, plan, plane)
    if attempt.status in ATTEMPT_ENDED:
        return key_of(attempt).job_name
    if attempt.status == "RESERVED":
        _wait_until_gone(previous(attempts, attempt.attempt), plane)
        attempt = _mark_submitted(attempt, plan, plane)
    plane.runner.start(_spec(request, attempt, plan, plane))
    return key_of(attempt).job_name


def _hand_over(token: str, result_key: str, plane: ControlPlane) -> str:
    stored = plane.objects.get(result_key, limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None:
        raise ContractBroken(f"{result_key} is gone, so its phase cannot be taken over")
    result = PhaseResult.from_bytes(stored, where=result_key)
    plane.executions.succeed(token, output_of(result, result_key).to_bytes())
    return result_key


def output_of(result: PhaseResult, result_key: str) -> PhaseOutput:
    """What Step Functions is told of a result.

    Raises:
        ContractBroken: the result is a failure.
    """
    if result.outcome == "failed":
        raise ContractBroken(f"{result_key} is a failure, not an output")
    return PhaseOutput(outcome=result.outcome, artifacts=result.artifacts, result_key=result_key)


def _claim(
    request: Submission, attempts: list[AttemptRecord], plan: Plan, plane: ControlPlane
) -> AttemptRecord:
    choice = choose(attempts, request.token, plan.pipeline.attempts)
    if isinstance(choice, Adopt):
        return choice.attempt
    if isinstance(choice, TakeOver):
        if not plane.ledger.attempts.take_over(choice.attempt, request.token):
            raise AttemptFenced(f"{key_of(choice.attempt).job_name} went on with another token")
        return choice.attempt.model_copy(update={"token": request.token})
    patience = plan.pipeline.patience
    now = plane.clock.now()
    key = attempt_key(request.run, request.round, request.phase, choice.number)
    fresh = AttemptRecord(
        run=request.run,
        pipeline=request.pipeline,
        round=request.round,
        phase=request.phase,
        attempt=choice.number,
        token=request.token,
        nonce=plane.clock.nonce(),
        status="RESERVED",
        submitted_at=now,
        start_limit_s=patience.start_limit_s,
        deadline=now + timedelta(seconds=patience.timeout_s),
    )
    if not plane.ledger.attempts.reserve(fresh):
        raise AttemptFenced(f"{key.job_name} was reserved for another token meanwhile")
    return fresh


def _wait_until_gone(before: AttemptRecord | None, plane: ControlPlane) -> None:
    if before is None:
        return
    key = key_of(before)
    now = plane.clock.now()
    plane.runner.stop(key, "a newer attempt takes over")
    seen = plane.runner.look(key)
    over = now > before.deadline + timedelta(seconds=DEADLINE_GRACE_S)
    if seen.state in {"running", "waiting"} and not over:
        raise PreviousJobStillRunning(f"{key.job_name} is {seen.state}: {seen.reason}")
    plane.ledger.attempts.end(before, "STOPPED", at=now, cause="a newer attempt took over")


def _mark_submitted(attempt: AttemptRecord, plan: Plan, plane: ControlPlane) -> AttemptRecord:
    now = plane.clock.now()
    deadline = now + timedelta(seconds=plan.pipeline.patience.timeout_s)
    if not plane.ledger.attempts.mark_submitted(attempt, at=now, deadline=deadline):
        raise AttemptFenced(f"{key_of(attempt).job_name} went on with another token")
    return attempt.model_copy(
        update={"status": "SUBMITTED", "submitted_at": now, "deadline": deadline}
    )


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
        **settings,
    )
