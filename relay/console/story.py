"""The story of a run: what `relay show` tells, as one value."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime, field_serializer

from contracts.ledger import AttemptStatus, RunStatus
from contracts.model import Contract
from contracts.names import Phase, PipelineName, RunId
from contracts.progress import Progress

StateStatus = Literal["done", "running", "failed", "stopped", "waiting"]


class AttemptStory(Contract):
    """One job of a phase."""

    attempt: int
    job: str
    status: AttemptStatus
    submitted_at: AwareDatetime
    ended_at: AwareDatetime | None
    waiting: str
    progress: Progress | None
    metrics: dict[str, float]
    seconds: dict[str, float]
    resumed_from: str
    notes: tuple[str, ...]
    error: str
    cause: str

    @field_serializer("progress")
    def _without_nonce(self, progress: Progress | None) -> dict[str, Any] | None:
        """A job's nonce lets whoever knows it speak for the job: no story tells it."""
        return None if progress is None else progress.model_dump(mode="json", exclude={"nonce"})


class StateStory(Contract):
    """One stay in a state of the machine; `waiting` is a state that is still to come."""

    name: str
    kind: str
    status: StateStatus
    round: int | None
    phase: Phase | None
    entered_at: AwareDatetime | None
    exited_at: AwareDatetime | None
    attempts: tuple[AttemptStory, ...]


class RunStory(Contract):
    """A run from its first state to where it is."""

    run: RunId
    pipeline: PipelineName
    status: RunStatus
    reason: str
    error: str
    remedy: str
    created_at: AwareDatetime
    ended_at: AwareDatetime | None
    retry_of: RunId | None
    drops: int
    rounds: int
    version: int | None
    uri: str | None
    execution: str
    note: str = ""
    states: tuple[StateStory, ...]

    @property
    def metrics(self) -> dict[str, float]:
        """Figures of the last evaluation; empty before it."""
        for state in reversed(self.states):
            if state.phase == "evaluate":
                for attempt in reversed(state.attempts):
                    if attempt.metrics:
                        return attempt.metrics
        return {}

    @property
    def evaluations(self) -> dict[int, dict[str, float]]:
        """Figures of each round's evaluation, by round; a round before its end has none."""
        return {
            state.round: attempt.metrics
            for state in self.states
            if state.phase == "evaluate" and state.round
            for attempt in state.attempts
            if attempt.metrics
        }
