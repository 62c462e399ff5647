"""What a pipeline's gate could find on what is held out, judged by the code that judges runs."""

from __future__ import annotations

import math

from contracts.counting import counted
from contracts.errors import DataUnusable
from contracts.pipeline import Gate
from lambdas.logic.gate import judge
from training.episodes.artifact import Contents
from training.phases.measuring import LabelledTasks, Metric, metric_of
from training.statistics.clusters import CLUSTERS_MIN, gain_of, worth_in_cases
from training.statistics.student import student_quantile
from trajectories.learnable import Learnable
from trajectories.splitting import task_of
from trajectories.verdict import Reach

_SEARCHED = 10_000
"""Cases up to which the fewest that are enough are looked for."""
_GUESSING = 0.5
"""Share that a policy gets right which cannot tell a good answer from a bad one."""
_CASES: dict[Metric, str] = {
    "accuracy": "task with held-out pairs",
    "label_accuracy": "task with held-out answers of the rarer label",
    "likelihood": "task with good held-out answers",
}
_OF_SEVERAL = {metric: one.replace("task", "tasks", 1) for metric, one in _CASES.items()}


def reach(made: Learnable, gate: Gate, held_out_share: float) -> Reach | None:
    """Say what the gate could find; None where the pipeline plays, or nothing is held out.

    Args:
        made: what was dropped.
        gate: the pipeline's.
        held_out_share: the pipeline's.
    """
    try:
        plays = made.kind == "episodes"
        metric = None if plays else metric_of(gate, Contents.of(made), _labelled_tasks(made))
    except DataUnusable:
        metric = None
    if metric is None:
        return None
    cases = _cases(made, metric)
    fewest, enough = fewest_that_can_pass(metric, gate), fewest_that_are_enough(metric, gate)
    found = Reach(metric=metric, cases=cases, fewest=fewest, enough=enough)
    if enough is not None and cases >= enough:
        return found
    return found.model_copy(update={"words": _words(found, gate, held_out_share)})


def passes(gate: Gate, cases: int, before: float, after: float = 1.0) -> bool:
    """Whether a policy passes that keeps all that was right and adds to it.

    Args:
        gate: its `min_gain` counts.
        cases: of as many tasks.
        before: share of them that was right, within 0..1.
        after: share of them that is, at least as large.
    """
    worth = worth_in_cases(cases, cases, alone=1.0, together=1.0)
    gain = gain_of(before, after - before, 0.0, worth=worth)
    found = {"start_accuracy": before, "end_accuracy": after, "pairs": cases}
    bounds = {"gain": gain.value, "gain_low": gain.low, "gain_high": gain.high}
    return judge(gate.model_copy(update={"metric": "accuracy"}), found | bounds).passed


def fewest_that_can_pass(metric: Metric, gate: Gate) -> int | None:
    """Fewest cases with which the best result there is clears the gate; None where none does."""
    if metric == "likelihood":
        return CLUSTERS_MIN
    return next((n for n in range(1, _SEARCHED) if passes(gate, n, 0.0)), None)


def fewest_that_are_enough(metric: Metric, gate: Gate) -> int | None:
    """The same of a policy before that only guesses: from half to all right.

    For likelihood, whose cases have no best, those with which a mean gain passes that is as large
    as the gains spread from case to case.
    """
    if metric == "likelihood":
        return next(n for n in range(CLUSTERS_MIN, _SEARCHED) if gain_needed(n) <= 1)
    return next((n for n in range(1, _SEARCHED) if passes(gate, n, _GUESSING)), None)


def gain_needed(cases: int) -> float:
    """Half of a mean's interval, in standard deviations of what it is a mean of."""
    return student_quantile(cases - 1) / math.sqrt(cases)


def _cases(made: Learnable, metric: Metric) -> int:
    """Held-out tasks, by which `evaluate` clusters: at most as many cases are independent."""
    if metric == "accuracy":
        return len({task_of(one) for one in made.held_out})
    return _labelled_tasks(made).judging(metric)


def _labelled_tasks(made: Learnable) -> LabelledTasks:
    labels = made.labelled_held_out
    return LabelledTasks.of((one.good for one in labels), (one.trajectory.task for one in labels))


def _words(found: Reach, gate: Gate, held_out_share: float) -> str:
    """What so few cases can show, and how many would do."""
    cases, enough = found.cases, found.enough
    if enough is None:
        return f"gate.min_gain of {gate.min_gain:g} is out of reach of a policy that starts at half"
    of_each = " of each label" if found.metric == "label_accuracy" else ""
    tasks = f"{math.ceil(enough / held_out_share)} tasks{of_each}"
    more = f"with about {tasks} some {enough} would be held out, enough for one from half"
    there = counted(cases, _CASES[found.metric], _OF_SEVERAL[found.metric])
    if found.fewest is None or cases < found.fewest:
        return f"{there} can show no gain, however good the policy; {more}"
    if found.metric == "likelihood":
        spread = f"{gain_needed(cases):.1f} times its spread from task to task"
        more = more.removesuffix(" for one from half")
        return f"{there} can show no gain below {spread}; {more}"
    most = max(percent for percent in range(50) if passes(gate, cases, percent / 100))
    return f"{there} can show only a gain to all right from at most {most}% right; {more}"
