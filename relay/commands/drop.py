"""`relay drop`: put a file or a folder where a pipeline finds it, and see what comes of it."""

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
    file: Annotated[Path, typer.Argument(help="The file, or the folder of files.", exists=True)],
    *,
    pipeline: Annotated[str, typer.Option(help="The pipeline it is for.", show_default=False)],
    as_: Annotated[
        str | None,
        typer.Option("--as", help="Its name in the bucket. (default: its own)", show_default=False),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it to the end of its run.")] = False,
) -> None:
    """Drop a file or a folder into a pipeline: plain S3 PUTs to incoming/PIPELINE/NAME.

    A folder's files, those in its subfolders too, become one drop when _SUCCESS is put last; a
    call that was cut short is gone on with by the same call again.

    With --wait it ends with 0 when the run published or kept a policy, 1 when it did not or
    the file was refused; Ctrl-C leaves the run alone.

    JSON: {id, pipeline, bucket, key, version_id}, of a folder also {files, put, sealed_before};
    with --wait also {outcome: a run's status, or REJECTED, run: as `relay show` gives it or null,
    rejection: the report or null}.
    """
    name = as_ or file.resolve().name
    if "/" in name:
        raise typer.BadParameter(
            "a name has no slash; drop the folder itself, and its files are one drop",
            param_hint="--as",
        )
    with interrupted("interrupted; nothing was put"):
        _check(at, pipeline)
    dropped = (_put_folder if file.is_dir() else _put_file)(at, file, pipeline, name)
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


def _put_file(at: Invocation, file: Path, pipeline: str, name: str) -> Dropped:
    from relay.console.dropping import put

    with interrupted(f"interrupted; whether {name} was put is not known: `relay drops` may tell"):
        return put(at.plane, file, pipeline, name)


def _put_folder(at: Invocation, folder: Path, pipeline: str, name: str) -> Dropped:
    from contracts.counting import agreeing, counted
    from relay.console.folder_dropping import FolderDropping

    dropping = FolderDropping(at.plane, folder, pipeline, name)
    with interrupted("interrupted; nothing was put"):
        dropping.look()
    sealed = False
    try:
        with interrupted("interrupted"):
            dropped = dropping.put(talk)
        sealed = True
    finally:
        if not sealed:
            talk(
                f"{dropping.there} of {counted(len(dropping.files), 'file')} of {name} "
                f"{agreeing(dropping.there, 'is', 'are')} in the bucket, "
                "without _SUCCESS: no run takes them; the same command goes on"
            )
    if dropped.sealed_before:
        talk(f"{counted(dropped.files, 'file was', 'files were')} taken before; nothing was put")
    else:
        were = agreeing(dropped.put, "was", "were")
        talk(f"{dropped.put} of {counted(dropped.files, 'file')} {were} put, then _SUCCESS")
    return dropped


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
    record = at.plane.logic.ledger.drops.get(dropped.id)
    if record is not None and record.objects is not None and record.reason:
        talk(f"{record.reason}; `relay drops --pipeline {dropped.pipeline}` has the reports")
    return story, rejection_of(at.plane, dropped)


def _draw(story: RunStory | None, rejection: Rejection | None) -> None:
    from relay.console.durations import now
    from relay.console.problems_drawing import draw_rejection
    from relay.console.run_drawing import RunDrawing

    if story is not None:
        draw(RunDrawing().draw(story, now()))
    if rejection is not None:
        draw(draw_rejection(rejection))
