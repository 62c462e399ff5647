"""`relay drop`: put a file where a pipeline finds it, and see what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.endings import FAILED
from relay.commands.following import follow_to_its_end, interrupted
from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give, talk

if TYPE_CHECKING:
    from contracts.rejection import Rejection
    from relay.console.dropping import Dropped
    from relay.console.story import RunStory


def drop(
    at: Invocation,
    file: Annotated[Path, typer.Argument(help="The file.", exists=True, dir_okay=False)],
    *,
    pipeline: Annotated[str, typer.Option(help="The pipeline it is for.", show_default=False)],
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", help="Its name in the bucket. (default: the file's)", show_default=False
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it to the end of its run.")] = False,
) -> None:
    """Drop a file into a pipeline: a plain S3 PUT to incoming/PIPELINE/FILE.

    With --wait it ends with 0 when the run published or kept a policy, 1 when it did not or
    the file was refused; Ctrl-C leaves the run alone.

    JSON: {id, pipeline, bucket, key, version_id}; with --wait also {outcome: a run's status, or
    REJECTED, run: as `relay show` gives it or null, rejection: the report or null}.
    """
    from relay.console.dropping import put

    name = as_ or file.name
    with interrupted("interrupted; nothing was put"):
        _check(at, pipeline)
    with interrupted(f"interrupted; whether {name} was put is not known: `relay drops` may tell"):
        dropped = put(at.plane, file, pipeline, name)
    if not at.json:
        draw(f"s3://{dropped.bucket}/{dropped.key}\nversion {dropped.version_id}")
    if not wait:
        if at.json:
            give(dropped.model_dump(mode="json"))
        return
    with interrupted(f"{dropped.key} is in the bucket and goes its way: `relay runs` finds it"):
        story, rejection = _wait(at, dropped)
    outcome = story.status if story else "REJECTED"
    if at.json:
        give(
            {
                **dropped.model_dump(mode="json"),
                "outcome": outcome,
                "run": story.model_dump(mode="json") if story else None,
                "rejection": rejection.model_dump(mode="json") if rejection else None,
            }
        )
    else:
        _draw(story, rejection)
    raise typer.Exit(0 if outcome in {"PUBLISHED", "KEPT"} else FAILED)


def _check(at: Invocation, pipeline: str) -> None:
    """Nothing is put where no pipeline would take it."""
    from contracts.names import is_pipeline_name

    if not is_pipeline_name(pipeline):
        raise typer.BadParameter(f"{pipeline!r} can't be a pipeline's name", param_hint="pipeline")
    at.plane.pipeline_bytes(pipeline)


def _wait(at: Invocation, dropped: Dropped) -> tuple[RunStory | None, Rejection | None]:
    from relay.console.dropping import rejection_of, wait_for_run

    found = wait_for_run(at.plane, dropped, talk)
    if not isinstance(found, str):
        return None, found
    story = follow_to_its_end(at.plane, found)
    return story, rejection_of(at.plane, dropped)


def _draw(story: RunStory | None, rejection: Rejection | None) -> None:
    from relay.console.durations import now
    from relay.console.problems_drawing import draw_rejection
    from relay.console.run_drawing import RunDrawing

    if story is not None:
        draw(RunDrawing().draw(story, now()))
    if rejection is not None:
        draw(draw_rejection(rejection))
