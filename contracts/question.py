"""What the state machine asks `decide`: a question, and the execution's whole state."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from contracts.decision import PlanAnswer, StepAnswer
from contracts.model import Contract
from contracts.names import PipelineName, RunId
from contracts.result import PhaseOutput


class RunState(Contract):
    """The state an execution carries; what is not there yet is None."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run: RunId
    pipeline: PipelineName
    round: int = 1
    plan: PlanAnswer | None = None
    collect: PhaseOutput | None = None
    optimize: PhaseOutput | None = None
    evaluate: PhaseOutput | None = None
    decision: StepAnswer | None = None


class Question(Contract):
    """The payload of every `decide` task."""

    question: Literal["plan", "next", "publish", "keep"]
    state: RunState
