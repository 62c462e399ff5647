"""What `decide` answers to the state machine, one form a question."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contracts.model import Contract
from contracts.names import PipelineName, RunId


class PlanAnswer(Contract):
    """After `Plan run`: the state that the execution carries."""

    outcome: Literal["planned", "nothing_waiting"]
    run: RunId
    pipeline: PipelineName
    round: int = 1
    drops: int = Field(ge=0)
    rounds: int = Field(ge=0)
    heartbeat_s: int = Field(ge=1)
    timeout_s: int = Field(ge=1)


class StepAnswer(Contract):
    """After `Decide`: where the run goes."""

    next: Literal["publish", "keep", "next_round"]
    round: int = Field(ge=1, description="The round to run next; unchanged at the end.")
    reason: str


class EndAnswer(Contract):
    """After `Publish policy` or `Keep current policy`."""

    outcome: Literal["published", "kept", "no_data", "nothing_waiting"]
    version: int | None = None
    uri: str | None = None
    reason: str
