"""The verdict on one file: what `relay validate` shows, by the code that `collect` reads with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from contracts.counting import agreeing, counted
from contracts.errors import DataUnusable
from contracts.pipeline import DataRules, FolderModel, TinyModel
from contracts.result import Problem
from trajectories.estimating import Estimate
from trajectories.formats import FORMATS
from trajectories.labelling import is_learnable
from trajectories.learnable import Learnable, learnable
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.reading import Reader
from trajectories.refusal import speakable
from trajectories.trajectory import Trajectory
from trajectories.verdict import Labels, Reach, Verdict

JUDGED_BYTES_MAX = 192 * 1024**2
"""Of memory for the records of which is said what can be learnt; the rest is read and counted."""


Enough = Callable[[Learnable], object]
Reaching = Callable[[Learnable], Reach | None]


class Read(NamedTuple):
    """A file that was read to its end, and its first usable records."""

    reader: Reader
    estimate: Estimate
    first: Sequence[Pair | Trajectory]


def validate(
    path: Path,
    *,
    name: str,
    rules: DataRules,
    plays: bool | None = None,
    model: TinyModel | FolderModel | None = None,
    enough: Enough | None = None,
    reach: Reaching | None = None,
) -> Verdict:
    """Read a file in full and judge it, in bounded memory.

    Args:
        path: the file.
        name: what to call it in problems.
        rules: the pipeline's.
        plays: whether the pipeline has an environment; None where there is no pipeline, when
            what either kind could learn counts.
        model: the pipeline's, whose context may cut records.
        enough: raises `DataUnusable` when the pipeline's rounds lack something to learn from.
        reach: says what the pipeline's gate could find.

    Raises:
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    if size > rules.max_object_bytes:
        return _too_large(name, size, rules)
    read = read_to_end(Reader(path, name=name, format=rules.format), model)
    return judge(read, rules, plays=plays, enough=enough, reach=reach)


def read_to_end(reader: Reader, model: TinyModel | FolderModel | None = None) -> Read:
    """Read a file, keep its first records and estimate the tokens of all.

    Raises:
        OSError: the file cannot be read.
    """
    estimate = Estimate(
        context=model.context if model else None,
        vocabulary=model.vocab_size if isinstance(model, TinyModel) else None,
    )
    first: list[Pair | Trajectory] = []
    held = 0
    for record in reader:
        held += estimate.add(record)
        if held <= JUDGED_BYTES_MAX or not first:
            first.append(record.model_copy(update={"metadata": {}}) if record.metadata else record)
    return Read(reader, estimate, first)


def judge(
    read: Read,
    rules: DataRules,
    *,
    plays: bool | None,
    enough: Enough | None = None,
    reach: Reaching | None = None,
) -> Verdict:
    """Judge what a file held: a file is refused whole when too much or all of it is bad."""
    reader = read.reader
    made = learnable(
        (one for one in read.first if isinstance(one, Pair)),
        (one for one in read.first if isinstance(one, Trajectory)),
        rules,
        plays=bool(plays),
    )
    if plays is None:
        learnt = (one for one in read.first if isinstance(one, Trajectory) and is_learnable(one))
        made = made._replace(demonstrations=tuple(one for one in learnt if one.reward is not None))
    reason, remedy = _refusal(reader, rules) or _lesson(read, made, rules)
    if enough is not None and not remedy:
        reason, remedy = _lacking(made, enough) or (reason, remedy)
    labels = (*made.labelled_training, *made.labelled_held_out)
    good = sum(one.good for one in labels)
    return Verdict(
        ok=not remedy,
        reason=reason,
        remedy=remedy,
        format=reader.format,
        evidence=reader.evidence,
        records=reader.records,
        usable=reader.usable,
        rejected=reader.rejected,
        problems=reader.problems,
        problem_count=reader.problem_count,
        kind=made.kind,
        why=made.why,
        training=len(made.training),
        held_out=len(made.held_out),
        demonstrations=len(made.demonstrations),
        labels=Labels(good=good, bad=len(labels) - good, held_out=len(made.labelled_held_out)),
        reach=reach(made) if reach is not None and not remedy else None,
        judged=len(read.first),
        tokens=read.estimate.tokens,
        cut_share=read.estimate.cut_share,
    )


def _refusal(reader: Reader, rules: DataRules) -> tuple[str, str] | None:
    if not reader.usable:
        return _nothing_usable(reader)
    if reader.bad_share > rules.max_bad_share:
        return (
            f"{reader.rejected:,} of {counted(reader.records, 'record')} "
            f"{agreeing(reader.rejected, 'is', 'are')} bad, "
            f"more than the share of {rules.max_bad_share:g} that the pipeline allows",
            "mend the records listed, or raise data.max_bad_share",
        )
    return None


def _lacking(made: Learnable, enough: Enough) -> tuple[str, str] | None:
    try:
        enough(made)
    except DataUnusable as error:
        return f"alone it is not enough: {error}", "or drop it together with what it lacks"
    return None


def _nothing_usable(reader: Reader) -> tuple[str, str]:
    noun = FORMATS[reader.format].noun if reader.format else "record"
    first = reader.problems[0] if reader.problems else None
    reason = f"no usable {noun} in {counted(reader.records, 'record')}"
    if first is None:
        return reason, f"give at least one {noun}"
    where = f"line {first.line}, {first.field}: " if first.line else ""
    return f"{reason}; {where}{first.problem}", first.remedy


def _lesson(read: Read, made: Learnable, rules: DataRules) -> tuple[str, str]:
    """Whether anything can be learnt from it, alone; other drops may bring what this one lacks."""
    if made.demonstrations:
        return _usable(read), ""
    if made.kind == "nothing":
        return _nothing_to_learn(read, rules)
    sides, noun, other = (len(made.training), len(made.held_out)), "pair", "pairs"
    if made.kind == "labels":
        sides = (len(made.labelled_training), len(made.labelled_held_out))
        noun, other = "labelled answer", "records"
    if all(sides):
        return _usable(read), ""
    return (
        f"alone it gives {counted(sides[0], noun)} to train on and {sides[1]:,} held out; "
        "a run needs both",
        f"drop it together with {other} of other prompts",
    )


def _usable(read: Read) -> str:
    return (
        f"{read.reader.usable:,} of {counted(read.reader.records, 'record')} "
        f"{agreeing(read.reader.usable, 'is', 'are')} usable"
    )


def _nothing_to_learn(read: Read, rules: DataRules) -> tuple[str, str]:
    usable = read.reader.usable
    episodes = [one for one in read.first if isinstance(one, Trajectory)]
    if episodes and not any(one.play for one in episodes):
        return (
            f"{counted(usable, 'usable record is a prompt', 'usable records are prompts')} "
            "without an answer, from which only a "
            "policy that plays can learn",
            "add the answers, or an environment to the pipeline",
        )
    if any(one.images for record in read.first for one in _all_turns(record)):
        return (
            f"none of {counted(usable, 'usable record')} can be learnt from: "
            f"{agreeing(usable, 'it shows', 'they show')} images, which a policy of text does not "
            "see",
            "leave the images out, or keep the set for a model that sees them",
        )
    if not any(is_learnable(one) for one in episodes):
        return (
            f"in none of {counted(usable, 'usable record')} is what the assistant says to "
            "be learnt from",
            "give the answers a weight other than 0",
        )
    return (
        f"no two of {counted(usable, 'episode')} are of one task and opening with rewards that "
        f"differ by {rules.min_reward_gap:g}, so there is nothing to prefer",
        "log several trials of a task, lower data.min_reward_gap, or learn by labels (kto, sft)",
    )


def _all_turns(record: Pair | Trajectory) -> tuple[Message, ...]:
    return record.prompt + record.chosen if isinstance(record, Pair) else record.messages


def _too_large(name: str, size: int, rules: DataRules) -> Verdict:
    limit = rules.max_object_bytes
    problem = Problem(
        line=0,
        field="file",
        problem=f"{speakable(name)} has {counted(size, 'byte')}, "
        f"more than the {limit} that the pipeline allows",
        remedy="split it, or raise data.max_object_bytes",
    )
    return Verdict(
        ok=False,
        reason=f"no usable record in 0 records; {problem.problem}",
        remedy=problem.remedy,
        format="",
        evidence="not read",
        records=0,
        usable=0,
        rejected=0,
        problems=(problem,),
        problem_count=1,
    )
