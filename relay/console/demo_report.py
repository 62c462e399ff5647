"""What the demonstration showed: one object, and the same as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from contracts.model import Contract
from relay.console.durations import clock
from relay.console.figures import share
from relay.console.story import RunStory

_LEARNING = {"reference", "training", "looking at held-out pairs", "checkpoints"}
"""Stages of optimize that are learning; all else is loading, importing and moving files."""
_EVALUATING = "scoring"
_WORK = "work: "
"""Before the stages of the work itself; all others are of the job around it."""


class Score(Contract):
    """Held-out accuracy, and over how many pairs."""

    accuracy: float
    pairs: int


class Published(Contract):
    """The pipeline's current policy; `folder` is a copy that outlives the demonstration."""

    version: int
    uri: str
    folder: str


class DemoReport(Contract):
    """What `relay demo --output json` prints.

    Attributes:
        seconds: from the command's start to its end, everything stopped again.
        overhead_seconds: `seconds` less those spent learning and evaluating.
        start: of the policy that the run started from; None when the run did not get so far.
        end: of the policy that the run learnt.
    """

    run: str
    status: Literal["PUBLISHED", "KEPT", "FAILED"]
    seconds: float
    overhead_seconds: float
    start: Score | None
    end: Score | None
    policy: Published | None


def report(story: RunStory, policy: Published | None, seconds: float) -> DemoReport:
    """Sum a demonstration up."""
    metrics = story.metrics
    work = learning_and_evaluating(story)
    return DemoReport(
        run=story.run,
        status="FAILED" if story.status not in {"PUBLISHED", "KEPT"} else story.status,
        seconds=round(seconds, 1),
        overhead_seconds=round(seconds - work, 1),
        start=_score(metrics, "start_accuracy"),
        end=_score(metrics, "end_accuracy"),
        policy=policy,
    )


def learning_and_evaluating(story: RunStory) -> float:
    """Seconds that the run's jobs say they spent learning and evaluating."""
    return sum(
        seconds
        for state in story.states
        for attempt in state.attempts
        for named, seconds in attempt.seconds.items()
        for stage in [named.removeprefix(_WORK)]
        if (state.phase == "optimize" and stage in _LEARNING)
        or (state.phase == "evaluate" and stage.startswith(_EVALUATING))
    )


def _score(metrics: dict[str, float], name: str) -> Score | None:
    if name not in metrics or "pairs" not in metrics:
        return None
    return Score(accuracy=metrics[name], pairs=int(metrics["pairs"]))


def draw_report(made: DemoReport, story: RunStory, judge: str) -> RenderableType:
    """The table at the end.

    Args:
        made: the report.
        story: of the run.
        judge: the command line that judges the policy without Relay.
    """
    parts: list[RenderableType] = [_accuracies(story.metrics)] if made.start else []
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(made):
        facts.add_row(Text(name, style="dim"), value)
    parts.append(facts)
    if made.policy is not None:
        said = Text("\nJudge it without Relay, by plain transformers:", style="dim")
        parts += [said, Text(f"  {judge}", no_wrap=True, overflow="ignore")]
    return Group(*parts)


def _accuracies(metrics: dict[str, float]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column(f"{int(metrics['pairs'])} held-out pairs")
    table.add_column("accuracy", justify="right")
    table.add_column("95 % interval", justify="right")
    for words, name, bounds in (
        ("before", "start_accuracy", "start"),
        ("after", "end_accuracy", "end"),
    ):
        low, high = metrics.get(f"{bounds}_low"), metrics.get(f"{bounds}_high")
        interval = "" if low is None or high is None else f"{low * 100:.1f} to {share(high)}"
        table.add_row(words, share(metrics[name]), interval)
    if {"gain", "gain_low", "gain_high"} <= metrics.keys():
        style = "bold green" if metrics["gain_low"] > 0 else "bold yellow"
        interval = f"{metrics['gain_low'] * 100:+.1f} to {metrics['gain_high'] * 100:+.1f} %"
        table.add_row("gain", f"{metrics['gain'] * 100:+.1f} %", interval, style=style)
    return table


def _facts(made: DemoReport) -> Iterable[tuple[str, RenderableType]]:
    style = {"PUBLISHED": "bold green", "KEPT": "yellow", "FAILED": "bold red"}[made.status]
    yield "run", Text.assemble((made.run, "cyan"), "  ", (made.status, style))
    if made.policy is not None:
        place = Text(made.policy.folder, no_wrap=True, overflow="ignore")
        yield "policy", Text.assemble(f"version {made.policy.version} in ", place)
    work = made.seconds - made.overhead_seconds
    yield "time", f"{clock(made.seconds)}, of which {clock(work)} learning and evaluating"
