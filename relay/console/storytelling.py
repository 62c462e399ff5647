"""Putting a run's story together from ledger, history and results. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from contracts.ledger import RUN_ENDED, AttemptRecord, RunRecord
from contracts.names import AttemptKey, Phase
from contracts.result import PhaseResult
from relay.console.execution_history import Visit
from relay.console.remedies import remedy, remedy_after
from relay.console.story import AttemptStory, RunStory, StateStatus, StateStory

PHASE_STATES: dict[str, Phase] = {
    "Collect rollouts": "collect",
    "Optimize policy": "optimize",
    "Evaluate policy": "evaluate",
}
LINE = (
    "Gather drops",
    "Plan run",
    *PHASE_STATES,
    "Decide",
    "Publish policy",
)
"""The states of a run that goes well, in order."""
_KEPT = "Keep current policy"
_FAILED = "Run failed"


@dataclass(frozen=True)
class Sources:
    """All that a story is made of.

    Attributes:
        record: the run in the ledger.
        attempts: its attempts, in order.
        visits: the states it went through; empty when the execution is not to be seen.
        execution: the execution's ARN.
        status: the execution's status; empty when it is not to be seen.
        error: the execution's error.
        cause: the execution's cause.
        stopped_at: when the execution ended.
        results: results of ended attempts, by attempt.
        rounds: rounds of the plan; 0 before there is one.
    """

    record: RunRecord
    attempts: Sequence[AttemptRecord]
    visits: Sequence[Visit]
    execution: str
    status: str = ""
    error: str = ""
    cause: str = ""
    stopped_at: datetime | None = None
    results: Mapping[AttemptKey, PhaseResult] = field(default_factory=dict)
    rounds: int = 0


def tell(sources: Sources) -> RunStory:
    """The run's story."""
    record = sources.record
    error = _error_of(sources)
    return RunStory(
        run=record.run,
        pipeline=record.pipeline,
        status=record.status,
        reason=record.reason or sources.cause,
        error=error,
        remedy=remedy(error, record.run)
        if error
        else remedy_after(record.status, record.run, record.pipeline),
        created_at=record.created_at,
        ended_at=record.ended_at,
        retry_of=record.retry_of,
        drops=record.drops,
        rounds=sources.rounds,
        version=record.version,
        uri=record.uri,
        execution=sources.execution,
        note=record.note,
        states=tuple(_states(sources)),
    )


def _error_of(sources: Sources) -> str:
    if sources.record.status != "FAILED":
        return ""
    if sources.error:
        return sources.error
    return sources.record.reason.partition(":")[0].strip() or "unknown"


def _states(sources: Sources) -> list[StateStory]:
    told = _told(sources)
    if sources.record.status in RUN_ENDED or sources.status not in {"", "RUNNING"}:
        return told
    return told + _to_come([state.name for state in told])


def _told(sources: Sources) -> list[StateStory]:
    states: list[StateStory] = []
    round_ = 0
    for index, visit in enumerate(sources.visits):
        round_ += visit.name == "Collect rollouts"
        phase = PHASE_STATES.get(visit.name)
        following = sources.visits[index + 1 :]
        states.append(
            StateStory(
                name=visit.name,
                kind=visit.kind,
                status=_status(visit, following, sources),
                round=round_ or None,
                phase=phase,
                entered_at=visit.entered_at,
                exited_at=visit.exited_at or _left_at(following, sources),
                attempts=_attempts(sources, round_, phase),
            )
        )
    return states


def _left_at(following: Sequence[Visit], sources: Sources) -> datetime | None:
    return following[0].entered_at if following else sources.stopped_at


def _status(visit: Visit, following: Sequence[Visit], sources: Sources) -> StateStatus:
    if visit.name == _FAILED or (following and following[0].name == _FAILED):
        return "failed"
    if visit.exited_at is not None or following:
        return "done"
    ended: dict[str, StateStatus] = {
        "SUCCEEDED": "done",
        "FAILED": "failed",
        "TIMED_OUT": "failed",
        "ABORTED": "stopped",
    }
    return ended.get(sources.status, "running")


def _attempts(sources: Sources, round_: int, phase: Phase | None) -> tuple[AttemptStory, ...]:
    return tuple(
        _attempt(record, sources.results)
        for record in sources.attempts
        if record.phase == phase and record.round == round_
    )


def _attempt(record: AttemptRecord, results: Mapping[AttemptKey, PhaseResult]) -> AttemptStory:
    key = AttemptKey(record.run, record.round, record.phase, record.attempt)
    result = results.get(key)
    return AttemptStory(
        attempt=record.attempt,
        job=key.job_name,
        status=record.status,
        submitted_at=record.submitted_at,
        ended_at=record.ended_at,
        waiting=_waits_for(record),
        progress=record.progress,
        metrics=result.metrics if result else {},
        seconds=result.seconds if result else {},
        resumed_from=result.resumed_from if result else "",
        notes=result.notes if result else (),
        error=record.error,
        cause=record.cause,
    )


def _waits_for(record: AttemptRecord) -> str:
    """Why the job does not run; nothing once it spoke after it was last seen to wait."""
    if record.status not in {"SUBMITTED", "RUNNING"}:
        return ""
    spoke = record.progress.at if record.progress else None
    queued_again = record.queued_at is not None and (spoke is None or spoke < record.queued_at)
    return record.waiting if spoke is None or queued_again else ""


def _to_come(names: Sequence[str]) -> list[StateStory]:
    if _KEPT in names:
        return []
    last = max((LINE.index(name) for name in names if name in LINE), default=-1)
    if names and names[-1] in LINE:
        last = LINE.index(names[-1])
    elif "Next round" in names[-1:]:
        last = LINE.index("Plan run")
    return [
        StateStory(
            name=name,
            kind="task",
            status="waiting",
            round=None,
            phase=PHASE_STATES.get(name),
            entered_at=None,
            exited_at=None,
            attempts=(),
        )
        for name in LINE[last + 1 :]
    ]
