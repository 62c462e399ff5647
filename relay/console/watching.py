"""Showing a run while it goes on: a living picture on a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from relay.console.durations import now
from relay.console.run_drawing import RunDrawing
from relay.console.run_lines import lines_between
from relay.console.story import RunStory
from relay.console.trail import Trail

_FRAMES_A_SECOND = 8


def watch(stories: Iterable[RunStory], console: Console) -> RunStory | None:
    """Show the stories one after another; the last one, or None when there was none.

    On a terminal the picture is gone at the end: who called draws what shall stay.
    """
    return _live(stories, console) if console.is_terminal else _lines(stories, console)


def _live(stories: Iterable[RunStory], console: Console) -> RunStory | None:
    trail = Trail()
    drawing = RunDrawing(trail, live=True)
    latest: RunStory | None = None

    def picture() -> RenderableType:
        return drawing.draw(latest, now()) if latest else Text("")

    with Live(
        console=console,
        get_renderable=picture,
        refresh_per_second=_FRAMES_A_SECOND,
        transient=True,
    ):
        for latest in stories:
            trail.take(latest)
    return latest


def _lines(stories: Iterable[RunStory], console: Console) -> RunStory | None:
    before: RunStory | None = None
    for story in stories:
        for line in lines_between(before, story):
            console.print(f"{now():%H:%M:%S} {line}", markup=False, highlight=False, soft_wrap=True)
        before = story
    return before
