"""What `relay validate` says of a file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Contract
from contracts.result import Problem
from trajectories.choosing import Kind


class Labels(Contract):
    """Answers that are known to be good or bad, distinct ones."""

    good: int = Field(0, ge=0)
    bad: int = Field(0, ge=0)
    held_out: int = Field(0, ge=0, description="Of both, those kept from training.")


class Reach(Contract):
    """What the gate could find on what is held out."""

    metric: Literal["accuracy", "label_accuracy", "likelihood"]
    cases: int = Field(ge=0, description="Held-out tasks that it would judge by.")
    fewest: int | None = Field(
        description="Cases with which the best result there is passes; None where none does."
    )
    enough: int | None = Field(
        description="Cases with which one passes that goes from half right to all right; of "
        "likelihood, one whose gain is as large as it spreads from task to task."
    )
    words: str = Field("", description="One sentence where cases are not enough; else empty.")


class Verdict(Contract):
    """Whether a file can be learnt from under a pipeline's rules, and what of it."""

    ok: bool
    reason: str = Field(description="One sentence; why not, when not ok.")
    remedy: str = Field(description="Empty when ok.")
    format: str
    evidence: str
    records: int = Field(ge=0)
    usable: int = Field(ge=0)
    rejected: int = Field(ge=0)
    problems: tuple[Problem, ...] = Field(max_length=PROBLEMS_SHOWN_MAX)
    problem_count: int = Field(ge=0)
    kind: Kind = Field("nothing", description="What a step that may choose would learn from.")
    why: str = Field("", description="One sentence: why that, with numbers.")
    training: int = Field(0, ge=0, description="Pairs to train on.")
    held_out: int = Field(0, ge=0, description="Pairs kept from training.")
    demonstrations: int = Field(0, ge=0, description="Episodes to imitate, with an environment.")
    labels: Labels = Labels()
    reach: Reach | None = Field(
        None, description="None where nothing is held out, and with an environment."
    )
    judged: int = Field(
        0, ge=0, description="Records that all of the former is of: the first, of a large file."
    )
    tokens: int = Field(0, ge=0, description="Of all usable records, estimated by their bytes.")
    cut_share: float | None = Field(
        None, description="Share of them longer than the model's context; None if not known."
    )
