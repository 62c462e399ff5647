"""`relay demo`: a dropped file becomes a published policy, on this machine, from nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.commands.endings import FAILED, OK
from relay.commands.invocation import Invocation
from relay.commands.voice import draw, give, listening
from relay.console.demo_examples import EXAMPLES, ExampleName

if TYPE_CHECKING:
    from rich.console import Console

    from relay.console.demo_examples import Example
    from relay.console.demo_report import DemoReport
    from relay.console.demonstration import Shown
    from relay.console.steps import Steps
    from relay.console.story import RunStory


def demo(
    at: Invocation,
    *,
    example: Annotated[
        ExampleName,
        typer.Option(help="What is learnt: a game, from logs and by playing; or preferences."),
    ] = ExampleName.GUESS_NUMBER,
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

    Each time from fresh state; only the policies in FOLDER/policies and the learning curves in
    FOLDER/curves stay. Ctrl-C at any point stops everything.

    JSON: {run, status: PUBLISHED|KEPT|FAILED, seconds, overhead_seconds: all but learning,
    playing and evaluating, start, end, policy: {version, uri, folder}}; start and end are
    {success_rate, mean_reward, episodes}, of preferences {accuracy, pairs}. Of a game also {rounds:
    [{round, success_rate, mean_reward, episodes, greedy_success_rate}], steps: [{round,
    algorithm, before, after, gain, gain_low, gain_high, games}], picture}.
    """
    import psutil

    from relay.console.demonstration import demonstrate
    from relay.console.errors import Interrupted
    from relay.console.steps import Steps

    console = listening()
    steps = Steps(console, float(psutil.Process().create_time()))
    chosen = EXAMPLES[example]
    try:
        shown = demonstrate(
            chosen, folder, seed, steps.say, lambda runs: _watch(runs, console, steps)
        )
    except KeyboardInterrupt:
        steps.pause()
        raise Interrupted("interrupted; nothing is left running") from None
    finally:
        steps.pause()
    made = _report(chosen, shown, steps.seconds)
    if at.json:
        give(made.model_dump(mode="json"))
    else:
        _draw(chosen, made, shown.story)
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


def _report(example: Example, shown: Shown, seconds: float) -> DemoReport:
    from relay.console.demo_report import Published, report, report_of_games

    policy = None
    if shown.policy is not None and shown.folder is not None:
        policy = Published(
            version=shown.policy.version,
            uri=shown.policy.policy.uri,
            folder=str(shown.folder.resolve()),
        )
    if not example.plays:
        return report(shown.story, policy, seconds)
    picture = str(shown.picture.resolve()) if shown.picture else None
    return report_of_games(shown.story, policy, seconds, shown.lessons, picture)


def _draw(example: Example, made: DemoReport, story: RunStory) -> None:
    from relay.console.demo_drawing import draw_report

    place = Path(made.policy.folder) if made.policy else Path()
    command = [Path(sys.executable), *example.judging(place)]
    judge = " ".join(str(_near(path)) for path in command)
    draw(draw_report(made, story, judge, task=example.task))


def _near(path: Path) -> Path:
    """As seen from here, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
