"""The objects that an ending is told by."""

from __future__ import annotations

from datetime import datetime

from contracts.job import Exit, JobSpec
from contracts.result import Failure, PhaseResult
from relay.agent.decisions import Ending

SHUT_DOWN = Ending(
    "stopped",
    "JobCrashed",
    "the agent was shut down while the job ran; a new attempt goes on from its last checkpoint",
)


def result_of(spec: JobSpec, ending: Ending, started_at: datetime, now: datetime) -> PhaseResult:
    """The failed result that a job without a last word gets.

    Raises:
        ValueError: the ending has no failure to report.
    """
    if ending.error is None:
        raise ValueError(f"an ending that {ending.how!r} has no result")
    return PhaseResult(
        run=spec.run,
        round=spec.round,
        phase=spec.phase,
        attempt=spec.attempt,
        nonce=spec.nonce,
        outcome="failed",
        failure=Failure(error=ending.error, cause=ending.cause),
        started_at=started_at,
        ended_at=now,
    )


def exit_of(ending: Ending, now: datetime) -> Exit:
    """The record that the job's process is gone."""
    return Exit(how=ending.how, detail=ending.cause, at=now)
