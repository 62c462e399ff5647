"""The verdict on one file: what `relay validate` shows and what `collect` acts on."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from contracts.limits import PROBLEMS_SHOWN_MAX
from contracts.model import Contract
from contracts.pipeline import DataRules
from contracts.result import Problem
from trajectories.learnable import Learnable, learnable
from trajectories.reading import Reading, read_file
from trajectories.refusal import speakable


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
    held_out: int = Field(ge=0, description="Pairs kept from training.")
    demonstrations: int = Field(0, ge=0, description="Episodes to train on.")


def validate(path: Path, *, name: str, rules: DataRules, plays: bool | None = None) -> Verdict:
    """Read a file in full and judge it.

    Args:
        path: the file.
        name: what to call it in problems.
        rules: the pipeline's.
        plays: whether the pipeline has an environment; None, where there is no pipeline, if the
            file holds episodes.

    Raises:
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    too_large = size > rules.max_object_bytes
    reading = (
        _too_large(name, size, rules)
        if too_large
        else read_file(path, name=name, format=rules.format)
    )
    plays = bool(reading.trajectories) if plays is None else plays
    verdict = judge(reading, rules, plays=plays)
    return verdict if plays else _alone(verdict)


def _alone(verdict: Verdict) -> Verdict:
    """A run needs pairs on both sides of the split; other drops may bring what this one lacks."""
    if not verdict.ok or (verdict.training and verdict.held_out):
        return verdict
    return verdict.model_copy(
        update={
            "ok": False,
            "reason": f"alone it gives {verdict.training} pairs to train on and "
            f"{verdict.held_out} held out; a run needs both",
            "remedy": "drop it together with pairs of other prompts",
        }
    )


def judge(reading: Reading, rules: DataRules, *, plays: bool = False) -> Verdict:
    """Judge what a file held: a file is refused whole when too much or all of it is bad."""
    made = learnable(reading.pairs, reading.trajectories, rules, plays=plays)
    reason, remedy = _refusal(reading, rules) or _nothing_to_learn(reading, made, rules)
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
        training=len(made.training),
        held_out=len(made.held_out),
        demonstrations=len(made.demonstrations),
    )


def _refusal(reading: Reading, rules: DataRules) -> tuple[str, str] | None:
    if not reading.usable:
        return _nothing_usable(reading)
    if reading.rejected > rules.max_bad_share * reading.records:
        return (
            f"{reading.rejected} of {reading.records} records are bad, "
            f"more than the share of {rules.max_bad_share:g} that the pipeline allows",
            "mend the records listed, or raise data.max_bad_share",
        )
    return None


def _nothing_usable(reading: Reading) -> tuple[str, str]:
    noun = "episode" if reading.format == "episode_logs" else "pair"
    first = reading.problems[0] if reading.problems else None
    reason = f"no usable {noun} in {reading.records} records"
    if first is None:
        return reason, f"give at least one {noun}"
    where = f"line {first.line}, {first.field}: " if first.line else ""
    return f"{reason}; {where}{first.problem}", first.remedy


def _nothing_to_learn(reading: Reading, made: Learnable, rules: DataRules) -> tuple[str, str]:
    if made.demonstrations or made.training or made.held_out:
        return f"{reading.usable} of {reading.records} records are usable", ""
    return (
        f"no two of {reading.usable} episodes are of one task and opening with rewards that "
        f"differ by {rules.min_reward_gap:g}, so there is nothing to prefer",
        "log several trials of a task, lower data.min_reward_gap, or add an environment",
    )


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
