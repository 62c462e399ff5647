"""`relay demo`: a dropped file becomes a published policy, on this machine, from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.endings import FAILED, INTERRUPTED, OK
from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give, listening, talk

if TYPE_CHECKING:
    from rich.console import Console

    from relay.console.demo_report import DemoReport
    from relay.console.demonstration import Shown
    from relay.console.steps import Steps
    from relay.console.story import RunStory


def demo(
    at: Invocation,
    *,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of the first weights and the order of batches. (default: the recipe's)",
            min=0,
            max=2**31 - 1,
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="The demonstration's own folder.", file_okay=False)
    ] = Path(".relay/demo"),
) -> None:
    """Show the whole line once: a local stack, one drop, one run, a policy. Leaves nothing running.

    Each time from fresh state; only the policies in FOLDER/policies stay. Ctrl-C at any point
    stops everything.

    JSON: {run, status: PUBLISHED|KEPT|FAILED, seconds, overhead_seconds: all but learning and
    evaluating, start: {accuracy, pairs}, end: {accuracy, pairs}, policy: {version, uri, folder}}.
    """
    import psutil

    from relay.console.demonstration import demonstrate
    from relay.console.steps import Steps

    console = listening()
    steps = Steps(console, float(psutil.Process().create_time()))
    try:
        shown = demonstrate(folder, seed, steps.say, lambda runs: _watch(runs, console, steps))
    except KeyboardInterrupt:
        steps.pause()
        talk("interrupted; nothing is left running")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        steps.pause()
    made = _report(shown, steps.seconds)
    if at.json:
        give(made.model_dump(mode="json"))
    else:
        _draw(made, shown.story)
    raise typer.Exit(FAILED if made.status == "FAILED" else OK)


def _watch(stories: Iterator[RunStory], console: Console, steps: Steps) -> RunStory | None:
    from relay.console.durations import now
    from relay.console.run_drawing import RunDrawing
    from relay.console.watching import watch

    steps.pause()
    if console.is_terminal:
        console.print()
    last = watch(stories, console)
    if last is not None and console.is_terminal:
        console.print(RunDrawing(with_end=last.status == "FAILED").draw(last, now()))
        console.print()
    return last


def _report(shown: Shown, seconds: float) -> DemoReport:
    from relay.console.demo_report import Published, report

    policy = None
    if shown.policy is not None and shown.folder is not None:
        policy = Published(
            version=shown.policy.version,
            uri=shown.policy.policy.uri,
            folder=str(shown.folder.resolve()),
        )
    return report(shown.story, policy, seconds)


def _draw(made: DemoReport, story: RunStory) -> None:
    from relay.console.demo_report import draw_report
    from relay.console.demonstration import EXAMPLE, PAIRS

    place = made.policy.folder if made.policy else ""
    judge = f"python {_near(EXAMPLE / 'judge.py')} {_near(Path(place))} {_near(PAIRS)}"
    draw(draw_report(made, story, judge))


def _near(path: Path) -> Path:
    """As seen from here, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
