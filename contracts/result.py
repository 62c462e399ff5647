"""A job's last word, and what of it travels through the state machine."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from contracts.artifact import ArtifactRef
from contracts.limits import CAUSE_MAX, PROBLEMS_SHOWN_MAX
from contracts.model import Contract, Stored
from contracts.names import AttemptKey, Phase, RunId


class Problem(Contract):
    """What is wrong with a record, and how to mend it."""

    line: int = Field(ge=0, description="1-based line or array index; 0 for the whole file.")
    field: str
    problem: str
    remedy: str
    count: int = Field(1, ge=1, description="Records with the same; the line is the first one's.")


class ObjectReport(Contract):
    """What `collect` found in one drop."""

    drop: str = Field(description="The drop's id.")
    key: str
    version_id: str
    format: str = Field(description="Detected or configured format; empty when none fits.")
    evidence: str = Field(description="Why it was taken for that format.")
    records: int = Field(ge=0)
    usable: int = Field(ge=0)
    rejected: int = Field(ge=0)
    problems: tuple[Problem, ...] = Field(max_length=PROBLEMS_SHOWN_MAX)
    problem_count: int = Field(ge=0, description="All problems, also those not shown.")


class Failure(Contract):
    """Why a job did not succeed."""

    error: str = Field(description="A class name of contracts.errors.")
    cause: str = Field(max_length=CAUSE_MAX, description="One line: what, where, remedy.")


class PhaseResult(Stored):
    """`result.json`, written once by the job, or by its runner when the job no longer can."""

    run: RunId
    round: int = Field(ge=1)
    phase: Phase
    attempt: int = Field(ge=1)
    nonce: str
    outcome: Literal["succeeded", "no_data", "failed"]
    failure: Failure | None = None
    artifacts: dict[str, ArtifactRef] = Field({}, description="What is handed on, by name.")
    metrics: dict[str, float] = Field({}, description="Final values, by name.")
    objects: tuple[ObjectReport, ...] = ()
    resumed_from: str = Field("", description="Checkpoint this attempt went on from, if any.")
    notes: tuple[str, ...] = ()
    started_at: AwareDatetime
    ended_at: AwareDatetime
    seconds: dict[str, float] = Field({}, description="Where the time went, by stage.")

    @property
    def key(self) -> AttemptKey:
        """Which attempt this is of."""
        return AttemptKey(self.run, self.round, self.phase, self.attempt)


class PhaseOutput(Contract):
    """What Step Functions sees of a phase: references, a few hundred bytes."""

    outcome: Literal["succeeded", "no_data"]
    artifacts: dict[str, ArtifactRef] = Field({}, description="What is handed on, by name.")
    result_key: str
