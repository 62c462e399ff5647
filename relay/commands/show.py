"""`relay show`: a run as the console would draw it."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give

Run = Annotated[str, typer.Argument(help="The run's id.", show_default=False)]


def show(at: Invocation, run: Run) -> None:
    """Draw a run: its states with times, attempts, last progress, error and what to do.

    JSON: {run, pipeline, status, reason, error, remedy, created_at, ended_at, retry_of, drops,
    rounds, version, uri, execution, states: [{name, kind, status:
    done|running|failed|stopped|waiting, round, phase, entered_at, exited_at, attempts: [{attempt,
    job, status, submitted_at, ended_at, progress, metrics, seconds, resumed_from, notes, error,
    cause}]}]}.
    """
    from relay.console.durations import now
    from relay.console.run_drawing import RunDrawing
    from relay.console.story_reading import StoryReader

    story = StoryReader(at.plane, run).read()
    if at.json:
        give(story.model_dump(mode="json"))
    else:
        draw(RunDrawing().draw(story, now()))
