"""The verdict on one file: what `relay validate` shows and what `collect` acts on."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Contract
from contracts.pipeline import DataRules
from contracts.result import Problem
from trajectories.reading import Reading, read_pairs
from trajectories.refusal import speakable
from trajectories.splitting import split


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
    training: int = Field(ge=0, description="Pairs to train on.")
    held_out: int = Field(ge=0, description="Pairs kept from training, to evaluate on.")


def validate(path: Path, *, name: str, rules: DataRules) -> Verdict:
    """Read a file in full and judge it.

    Args:
        path: the file.
        name: what to call it in problems.
        rules: the pipeline's.

    Raises:
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    if size > rules.max_object_bytes:
        return judge(_too_large(name, size, rules), rules)
    return judge(read_pairs(path, name=name, format=rules.format), rules)


def judge(reading: Reading, rules: DataRules) -> Verdict:
    """Judge what a file held: a file is refused whole when too much or all of it is bad."""
    reason, remedy = _refusal(reading, rules)
    training, held_out = split(reading.pairs, rules.held_out_share)
    return Verdict(
        ok=not remedy,
        reason=reason,
        remedy=remedy,
        format=reading.format,
        evidence=reading.evidence,
        records=reading.records,
        usable=reading.usable,
        rejected=reading.rejected,
        problems=reading.problems,
        problem_count=reading.problem_count,
        training=len(training),
        held_out=len(held_out),
    )


def _refusal(reading: Reading, rules: DataRules) -> tuple[str, str]:
    if not reading.usable:
        first = reading.problems[0] if reading.problems else None
        reason = f"no usable pair in {reading.records} records"
        if first is None:
            return reason, "give at least one pair"
        where = f"line {first.line}, {first.field}: " if first.line else ""
        return f"{reason}; {where}{first.problem}", first.remedy
    if reading.rejected > rules.max_bad_share * reading.records:
        return (
            f"{reading.rejected} of {reading.records} records are bad, "
            f"more than the share of {rules.max_bad_share:g} that the pipeline allows",
            "mend the records listed, or raise data.max_bad_share",
        )
    return f"{reading.usable} of {reading.records} records are usable", ""


def _too_large(name: str, size: int, rules: DataRules) -> Reading:
    limit = rules.max_object_bytes
    problem = Problem(
        line=0,
        field="file",
        problem=f"{speakable(name)} has {size} bytes, "
        f"more than the {limit} that the pipeline allows",
        remedy="split it, or raise data.max_object_bytes",
    )
    return Reading(
        format="", evidence="not read", records=0, pairs=(), problems=(problem,), problem_count=1
    )
