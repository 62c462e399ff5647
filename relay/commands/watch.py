"""`relay watch`: a run as it goes on."""

from __future__ import annotations

import typer

from relay.commands.following import exit_code, follow_to_its_end
from relay.commands.invocation import Invocation
from relay.commands.show import Run
from relay.commands.voice import draw, give


def watch(at: Invocation, run: Run) -> None:
    """Follow a run to its end: states as they go by, the job's bar, figures as they move.

    Off a terminal it prints a line for each thing that happens. Ends with 0 when the run
    published, kept or had nothing to do, else with 1. Ctrl-C leaves the run alone.

    JSON, at the end: as `relay show`.
    """
    from relay.console.durations import now
    from relay.console.run_drawing import RunDrawing

    story = follow_to_its_end(at.plane, run)
    if at.json:
        give(story.model_dump(mode="json"))
    else:
        draw(RunDrawing().draw(story, now()))
    raise typer.Exit(exit_code(story))
