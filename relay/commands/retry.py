"""`relay retry`: a new run with an ended run's drops."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.following import exit_code, follow_to_its_end
from relay.commands.invocation import Invocation
from relay.commands.show import Run
from relay.commands.voice import draw, give


def retry(
    at: Invocation,
    run: Run,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Follow the new run to its end.")] = False,
) -> None:
    """Make a new run of a failed or cancelled one: the same drops, from the last good handoff.

    JSON: {run: the new run's id, retry_of}; with --wait as `relay show`.
    """
    from lambdas.logic.retry_run import retry_run
    from relay.console.durations import now
    from relay.console.run_drawing import RunDrawing

    at.plane.run(run)
    fresh = retry_run(run, at.plane.logic)
    if not at.json:
        draw(f"run {fresh} retries {run}: `relay watch {fresh}`")
    if not wait:
        if at.json:
            give({"run": fresh, "retry_of": run})
        return
    story = follow_to_its_end(at.plane, fresh)
    if at.json:
        give(story.model_dump(mode="json"))
    else:
        draw(RunDrawing().draw(story, now()))
    raise typer.Exit(exit_code(story))
