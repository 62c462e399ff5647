"""A run as a picture: its states in a column, with times, bars and figures."""

from __future__ import annotations

from datetime import datetime

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from contracts.counting import counted
from contracts.ledger import RUN_ENDED
from contracts.progress import Progress
from relay.console.durations import clock, moment
from relay.console.figures import LIVE, figure, outcome_of, progress_words, sparkline
from relay.console.story import AttemptStory, RunStory, StateStory
from relay.console.trail import Trail

STATUS_STYLE = {
    "STARTING": "cyan",
    "OPEN": "cyan",
    "PUBLISHED": "bold green",
    "KEPT": "green",
    "NO_DATA": "yellow",
    "EMPTY": "dim",
    "FAILED": "bold red",
    "CANCELLED": "yellow",
}
_MARKS = {
    "done": ("✓", "green"),
    "running": ("●", "cyan"),
    "failed": ("✗", "bold red"),
    "stopped": ("■", "yellow"),
    "waiting": ("○", "bright_black"),
}
_SHOWN_KINDS = {"task", "wait"}
"""Choices and passes take no time and say nothing that the states around them don't."""
_BAR_WIDTH = 36


class RunDrawing:
    """Draws stories of one run; a live one turns its spinner and counts its seconds."""

    def __init__(
        self, trail: Trail | None = None, *, live: bool = False, with_end: bool = True
    ) -> None:
        self._trail = trail or Trail()
        self._with_end = with_end
        self._spinner = Spinner("dots", style="cyan") if live else None

    def draw(self, story: RunStory, now: datetime) -> RenderableType:
        """The whole picture."""
        parts: list[RenderableType] = [_head(story, now), "", self._line(story, now)]
        end = _end(story) if self._with_end else None
        return Group(*parts, *(["", end] if end else []))

    def _line(self, story: RunStory, now: datetime) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(width=1)
        table.add_column(min_width=19, no_wrap=True)
        table.add_column(min_width=5, justify="right", no_wrap=True)
        table.add_column(ratio=1)
        rounds = story.rounds > 1
        before = None
        for state in story.states:
            if state.kind not in _SHOWN_KINDS:
                continue
            if rounds and state.round and state.phase == "collect" and state.round != before:
                words = f"round {state.round} of {story.rounds}"
                table.add_row("", Text(words, style="dim"), "", "")
                before = state.round
            self._add(table, state, story, now)
        return table

    def _add(self, table: Table, state: StateStory, story: RunStory, now: datetime) -> None:
        mark, style = _MARKS[state.status]
        waiting = state.status == "waiting"
        turning = self._spinner is not None and state.status == "running"
        name = "Publish or keep" if waiting and state.name == "Publish policy" else state.name
        table.add_row(
            self._spinner if turning else Text(mark, style=style),
            Text(name, style="bright_black" if waiting else ""),
            Text(_took(state, now), style="dim"),
            self._detail(state, story),
        )
        for attempt in state.attempts[:-1]:
            table.add_row("", "", "", _failed_attempt(attempt))
        if state.status == "failed" and state.attempts:
            table.add_row("", "", "", _failed_attempt(state.attempts[-1]))

    def _detail(self, state: StateStory, story: RunStory) -> RenderableType:
        if state.phase and state.attempts:
            return self._job(state, state.attempts[-1])
        if state.name == "Plan run" and story.drops and state.status == "done":
            rounds = f", {counted(story.rounds, 'round')}" if story.rounds else ""
            return Text(f"{counted(story.drops, 'drop')}{rounds}", style="dim")
        if state.name == "Publish policy" and story.version is not None:
            return Text(f"version {story.version}", style="dim")
        return ""

    def _job(self, state: StateStory, attempt: AttemptStory) -> RenderableType:
        which = f"attempt {attempt.attempt}" if attempt.attempt > 1 else ""
        waits = attempt.status in {"RESERVED", "SUBMITTED"} or attempt.waiting
        if state.status == "running" and waits:
            why = attempt.waiting or "waiting for its first sign of life"
            return Text(", ".join(filter(None, [which, why])))
        if state.status == "running" and attempt.progress:
            return self._progress(attempt.job, attempt.progress, which)
        done = outcome_of(state.phase, attempt.metrics) if state.phase else ""
        if not done and attempt.progress and state.status != "done":
            done = progress_words(attempt.progress)
        resumed = f"went on from {attempt.resumed_from}" if attempt.resumed_from else ""
        return Text(", ".join(filter(None, [which, resumed, done])), style="dim")

    def _progress(self, job: str, progress: Progress, which: str) -> RenderableType:
        words = ", ".join(filter(None, [which, progress.stage]))
        if not progress.steps:
            return Text(words)
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(
            total=progress.steps,
            completed=progress.step,
            width=_BAR_WIDTH,
            complete_style="cyan",
            finished_style="green",
        )
        row.add_row(Text(words), bar, Text(f"{progress.step:,}/{progress.steps:,}", style="cyan"))
        figures = self._moving(job, progress)
        return Group(row, figures) if figures else row

    def _moving(self, job: str, progress: Progress) -> Text | None:
        text = Text()
        for name, words in LIVE:
            if name not in progress.metrics:
                continue
            text.append("   " if text else "")
            text.append(f"{words} ", style="dim")
            text.append(figure(name, progress.metrics[name]), style="bold")
            line = sparkline(self._trail.values(job, name))
            text.append(f" {line}" if len(line) > 1 else "", style="cyan")
        return text or None


def _head(story: RunStory, now: datetime) -> Table:
    table = Table.grid(expand=True)
    table.add_column()
    table.add_column(justify="right")
    style = STATUS_STYLE[story.status]
    status = Text.assemble(
        (story.status if story.status != "OPEN" else "RUNNING", style),
        (f"  {clock(((story.ended_at or now) - story.created_at).total_seconds())}", "dim"),
    )
    title = Text.assemble((story.pipeline, "bold"), "  ", (story.run, "cyan"))
    table.add_row(title, status)
    since = f"started {moment(story.created_at)}"
    if story.retry_of:
        since += f", retry of {story.retry_of}"
    table.add_row(Text(since, style="dim"), "")
    if story.note:
        table.add_row(Text(f"meanwhile: {story.note}", style="yellow"), "")
    return table


def _took(state: StateStory, now: datetime) -> str:
    if state.entered_at is None:
        return ""
    end = state.exited_at or (now if state.status == "running" else state.entered_at)
    return clock((end - state.entered_at).total_seconds())


def _failed_attempt(attempt: AttemptStory) -> Text:
    if not attempt.error and not attempt.cause:
        return Text(f"attempt {attempt.attempt} {attempt.status.lower()}", style="dim")
    return Text.assemble(
        (f"attempt {attempt.attempt} ", "dim"),
        (attempt.error or attempt.status.lower(), "red"),
        (f": {attempt.cause}" if attempt.cause else "", "dim"),
    )


def _end(story: RunStory) -> RenderableType | None:
    if story.status not in RUN_ENDED:
        return None
    if story.status == "FAILED":
        said = story.reason.removeprefix(f"{story.error}: ")
        body = Text.assemble((story.error, "bold red"), "\n", said, "\n", *_what_to_do(story))
        return Panel(body, border_style="red", padding=(0, 1))
    if story.status == "CANCELLED":
        why = story.reason.removeprefix("Cancelled: ")
        return Text.assemble(("Cancelled: ", "yellow"), why, *_what_to_do(story))
    if story.status == "PUBLISHED":
        where = Text.assemble(("Published version ", "green"), (f"{story.version}", "bold green"))
        uri = Text(story.uri or "", style="dim", no_wrap=True, overflow="ignore")
        return Group(where, uri, Text(story.reason, style="dim"))
    return Text.assemble(("Kept the current policy: ", "yellow"), story.reason, *_what_to_do(story))


def _what_to_do(story: RunStory) -> tuple[str | tuple[str, str], ...]:
    return ("\n", ("What to do: ", "bold"), story.remedy) if story.remedy else ()
