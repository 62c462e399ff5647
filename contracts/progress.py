"""A running job's sign of life."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.model import Stored
from contracts.names import Phase, RunId


class Progress(Stored):
    """`progress.json`, overwritten at most once an interval."""

    run: RunId
    round: int = Field(ge=1)
    phase: Phase
    attempt: int = Field(ge=1)
    nonce: str
    sequence: int = Field(ge=1, description="Grows by one a report; an older one changes nothing.")
    at: AwareDatetime
    stage: str = Field(max_length=80, description="What the job is doing, in an operator's words.")
    step: int = Field(0, ge=0)
    steps: int = Field(0, ge=0, description="0 while not known.")
    metrics: dict[str, float] = Field({}, description="The newest values, by name.")
