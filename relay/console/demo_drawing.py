"""What the demonstration showed, as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from contracts.counting import counted
from relay.console.demo_report import DemoReport, GameReport, StepGain
from relay.console.durations import clock
from relay.console.figures import share
from relay.console.story import RunStory

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TASKS_A_LINE = 16
_TASK = "success_task_"
_BOUNDS = ("_low", "_high")
_LOOKS = (
    "By training's own looks, in the same {games} games before and after a step: without it is the "
    "policy that skips it. Part of what dpo adds comes of its likelihood term; a control that is "
    "trained on without dpo takes as long as the run: python -m benchmarks.learning --control"
)


def draw_report(
    made: DemoReport, story: RunStory, judge: str, *, task: str = "task"
) -> RenderableType:
    """The tables at the end.

    Args:
        made: the report.
        story: of the run.
        judge: the command line that judges the policy without Relay.
        task: what a task is called, in one short word.
    """
    parts: list[RenderableType] = []
    if isinstance(made, GameReport):
        parts += _games(made, story, task)
    elif made.start:
        parts.append(_accuracies(story.metrics))
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(made):
        facts.add_row(Text(name, style="dim"), value)
    parts.append(facts)
    if made.policy is not None:
        said = Text("\nJudge it without Relay, by plain transformers:", style="dim")
        parts += [said, Text(f"  {judge}", no_wrap=True, overflow="ignore")]
    return Group(*parts)


def _accuracies(metrics: Mapping[str, float]) -> Table:
    table = _table(counted(metrics["pairs"], "held-out pair"), "accuracy", "95 % interval")
    for words, side in (("before", "start"), ("after", "end")):
        bounds = _interval(metrics, f"{side}_low", f"{side}_high")
        table.add_row(words, share(metrics[f"{side}_accuracy"]), bounds)
    _add_gain(table, metrics, share_of=True)
    return table


def _games(made: GameReport, story: RunStory, task: str) -> Iterator[RenderableType]:
    if made.rounds:
        yield _rounds(made, story)
    if made.steps:
        yield _steps(made.steps)
        yield Text(_LOOKS.format(games=made.steps[0].games), style="dim")
    if made.rounds:
        yield from _by_task(story, task)


def _rounds(made: GameReport, story: RunStory) -> Table:
    games = counted(made.rounds[-1].episodes, "held-out game")
    table = _table(games, "success", "95 % interval", "greedy", "mean reward")
    metrics = story.metrics
    _add_score(table, "before", metrics, "start")
    learnt = {
        number: ", ".join(step.algorithm for step in made.steps if step.round == number)
        for number in story.evaluations
    }
    for number, figures in story.evaluations.items():
        words = f"after {_round(number)}" + (f" ({learnt[number]})" if learnt[number] else "")
        _add_score(table, words, figures, "end", share(figures["greedy_success_rate"]))
    _add_gain(table, metrics, share_of=metrics.get("gain") == _gained(metrics))
    return table


def _gained(metrics: Mapping[str, float]) -> float:
    return metrics["end_success_rate"] - metrics["start_success_rate"]


def _add_score(
    table: Table, words: str, metrics: Mapping[str, float], side: str, greedy: str = ""
) -> None:
    name = f"{side}_success_rate"
    bounds = _interval(metrics, *(f"{name}{bound}" for bound in _BOUNDS))
    reward = f"{metrics[f'{side}_mean_reward']:.2f}"
    table.add_row(words, share(metrics[name]), bounds, greedy, reward)


def _steps(steps: Iterable[StepGain]) -> Table:
    table = _table("what each step added", "without it", "with it", "gain", "95 % interval")
    for step in steps:
        table.add_row(
            f"{_round(step.round)}, {step.algorithm}",
            share(step.before),
            share(step.after),
            f"{step.gain * 100:+.1f} %",
            f"{step.gain_low * 100:+.1f} to {step.gain_high * 100:+.1f} %",
            style=_style_of(step.gain_low),
        )
    return table


def _by_task(story: RunStory, task: str) -> Iterator[Table]:
    """Success by task, a row a round; a task that is never solved is red."""
    found = {number: _tasks(metrics) for number, metrics in story.evaluations.items()}
    names = sorted({name for tasks in found.values() for name in tasks})
    for first in range(0, len(names), _TASKS_A_LINE):
        shown = names[first : first + _TASKS_A_LINE]
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
        table.add_column(f"% by {task}")
        for name in shown:
            table.add_column(str(name + 1), justify="right", min_width=2)
        for number, tasks in found.items():
            row = [_task(tasks[name]) if name in tasks else "" for name in shown]
            table.add_row(_round(number), *row)
        yield table


def _tasks(metrics: Mapping[str, float]) -> dict[int, float]:
    return {
        int(name.removeprefix(_TASK)): value
        for name, value in metrics.items()
        if name.startswith(_TASK) and not name.endswith(_BOUNDS)
    }


def _task(value: float) -> Text:
    return Text(f"{value * 100:.0f}", style="" if value else "bold red")


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column(first)
    for words in others:
        table.add_column(words, justify="right")
    return table


def _interval(metrics: Mapping[str, float], low: str, high: str) -> str:
    if low not in metrics or high not in metrics:
        return ""
    return f"{metrics[low] * 100:.1f} to {share(metrics[high])}"


def _add_gain(table: Table, metrics: Mapping[str, float], *, share_of: bool) -> None:
    if not {"gain", "gain_low", "gain_high"} <= metrics.keys():
        return
    gain, low, high = (metrics[name] for name in ("gain", "gain_low", "gain_high"))
    words, bounds = f"{gain:+.2f}", f"{low:+.2f} to {high:+.2f}"
    if share_of:
        words, bounds = f"{gain * 100:+.1f} %", f"{low * 100:+.1f} to {high * 100:+.1f} %"
    name = "gain" if share_of else "gain in mean reward"
    table.add_row(name, words, bounds, style=_style_of(low))


def _style_of(low: float) -> str:
    return "bold green" if low > 0 else "bold yellow"


def _round(number: int) -> str:
    return f"round {_WORDS[number] if number < len(_WORDS) else number}"


def _facts(made: DemoReport) -> Iterable[tuple[str, RenderableType]]:
    style = {"PUBLISHED": "bold green", "KEPT": "yellow", "FAILED": "bold red"}[made.status]
    yield "run", Text.assemble((made.run, "cyan"), "  ", (made.status, style))
    if made.policy is not None:
        place = Text(made.policy.folder, overflow="fold")
        yield "policy", Text(f"version {made.policy.version}")
        yield "its folder", place
    if isinstance(made, GameReport) and made.picture:
        yield "learning curve", Text(made.picture, overflow="fold")
    work = made.seconds - made.overhead_seconds
    playing = ", playing" if isinstance(made, GameReport) else ""
    yield "time", f"{clock(made.seconds)}, of which {clock(work)} learning{playing} and evaluating"
