"""Builders of runs, as ledger and history tell of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from contracts.ledger import AttemptRecord, RunRecord
from contracts.names import AttemptKey
from contracts.progress import Progress
from contracts.result import PhaseResult
from relay.console.execution_history import Visit
from relay.console.story import RunStory
from relay.console.storytelling import Sources, tell

RUN = "r260304-050607-abcdef"
T0 = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
EVALUATED = {
    "start_accuracy": 0.5,
    "start_low": 0.4,
    "start_high": 0.6,
    "end_accuracy": 0.9,
    "end_low": 0.85,
    "end_high": 0.95,
    "gain": 0.4,
    "gain_low": 0.3,
    "gain_high": 0.5,
    "pairs": 160.0,
}


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def record(**changed: Any) -> RunRecord:
    fields = {"run": RUN, "pipeline": "preferences", "status": "OPEN", "created_at": T0, "drops": 1}
    return RunRecord.model_validate({**fields, **changed})


def attempt(phase: str, number: int = 1, status: str = "RUNNING", **changed: Any) -> AttemptRecord:
    fields = {
        "run": RUN,
        "pipeline": "preferences",
        "round": 1,
        "phase": phase,
        "attempt": number,
        "token": "a token",
        "nonce": "n" * 16,
        "status": status,
        "submitted_at": T0,
        "start_limit_s": 60,
        "deadline": at(3600),
    }
    return AttemptRecord.model_validate({**fields, **changed})


def progress(phase: str, sequence: int, step: int, **metrics: float) -> Progress:
    return Progress(
        run=RUN,
        round=1,
        phase=phase,  # type: ignore[arg-type]
        attempt=1,
        nonce="n" * 16,
        sequence=sequence,
        at=at(10),
        stage="Training",
        step=step,
        steps=100,
        metrics=metrics,
    )


def result(phase: str, number: int = 1, **changed: Any) -> PhaseResult:
    fields = {
        "run": RUN,
        "round": 1,
        "phase": phase,
        "attempt": number,
        "nonce": "n" * 16,
        "outcome": "succeeded",
        "started_at": T0,
        "ended_at": at(5),
    }
    return PhaseResult.model_validate({**fields, **changed})


def visits(*names: str, last_is_left: bool = False) -> list[Visit]:
    """A stay of a second in each, in the last one still."""
    kinds = {"Gather drops": "wait", "Run failed": "fail", "Next round": "pass"}
    found = [Visit(name, kinds.get(name, "task"), at(n), at(n + 1)) for n, name in enumerate(names)]
    if not last_is_left:
        last = found[-1]
        found[-1] = Visit(last.name, last.kind, last.entered_at)
    return found


BEGUN = ("Gather drops", "Plan run", "Collect rollouts")


def optimizing(step: int = 42, sequence: int = 3, **changed: Any) -> RunStory:
    """A run whose training is under way."""
    collected = result("collect", metrics={"records": 640, "usable": 640, "train_pairs": 480})
    moving = progress("optimize", sequence, step, loss=0.5123, held_out_accuracy=0.75)
    sources: dict[str, Any] = {
        "record": record(),
        "attempts": [
            attempt("collect", status="SUCCEEDED"),
            attempt("optimize", progress=moving),
        ],
        "visits": visits(*BEGUN, "Optimize policy"),
        "execution": "arn:execution",
        "status": "RUNNING",
        "results": {AttemptKey(RUN, 1, "collect", 1): collected},
        "rounds": 1,
    }
    return tell(Sources(**{**sources, **changed}))


def published() -> RunStory:
    """A run that went well."""
    names = (*BEGUN, "Optimize policy", "Evaluate policy", "Decide", "Publish policy")
    seconds = {"work: training": 8.0, "work: imports": 4.0, "uploading": 1.0}
    scoring = {"work: scoring the parent": 1.0, "work: scoring the candidate": 1.5}
    return tell(
        Sources(
            record=record(
                status="PUBLISHED",
                version=1,
                uri="s3://bucket/policies/preferences/r/",
                reason="accuracy is better",
                ended_at=at(90),
            ),
            attempts=[attempt(p, status="SUCCEEDED") for p in ("collect", "optimize", "evaluate")],
            visits=visits(*names, last_is_left=True),
            execution="arn:execution",
            status="SUCCEEDED",
            stopped_at=at(90),
            results={
                AttemptKey(RUN, 1, "optimize", 1): result(
                    "optimize", metrics={"steps": 100, "loss": 0.2}, seconds=seconds
                ),
                AttemptKey(RUN, 1, "evaluate", 1): result(
                    "evaluate", metrics=EVALUATED, seconds=scoring
                ),
            },
            rounds=1,
        )
    )


def failed() -> RunStory:
    """A run whose training crashed twice."""
    crash = {"error": "JobCrashed", "cause": "killed by signal 9", "ended_at": at(9)}
    return tell(
        Sources(
            record=record(
                status="FAILED", reason="JobCrashed: killed by signal 9", ended_at=at(12)
            ),
            attempts=[
                attempt("collect", status="SUCCEEDED"),
                attempt("optimize", 1, "FAILED", **crash),
                attempt("optimize", 2, "FAILED", **crash),
            ],
            visits=visits(*BEGUN, "Optimize policy", "Run failed"),
            execution="arn:execution",
            status="FAILED",
            error="JobCrashed",
            cause="killed by signal 9",
            stopped_at=at(12),
            rounds=1,
        )
    )
