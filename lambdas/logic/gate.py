"""The gate: a pure judgement of evaluate's metrics by the plan's frozen gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contracts.counting import agreeing, counted
from contracts.errors import ContractBroken
from contracts.pipeline import Gate

_GAMES = ("episodes", "episode on held-out seeds", "episodes on held-out seeds")
_COUNTED = {
    "accuracy": ("pairs", "held-out pair", "held-out pairs"),
    "label_accuracy": (
        "comparisons",
        "comparison of a good with a bad held-out episode",
        "comparisons of a good with a bad held-out episode",
    ),
    "likelihood": ("held_out_good", "good held-out episode", "good held-out episodes"),
    "success_rate": _GAMES,
    "mean_reward": _GAMES,
}
"""By metric, in the order in which `auto` takes them: the figure that counts its cases, and what
one of them and several are called."""


class Judgement(NamedTuple):
    """Whether a candidate passes, in a sentence."""

    passed: bool
    reason: str


def judge(gate: Gate, metrics: Mapping[str, float]) -> Judgement:
    """Pass a candidate whose gain is above the gate's by its whole 95% interval.

    The metrics are to hold `start_<metric>`, `end_<metric>`, the `gain` between them with its
    bounds `gain_low` and `gain_high`, and on how many `pairs`, `comparisons`, `held_out_good`
    or `episodes` it was found. Where the gate leaves its metric to the data (`auto`), it is the
    first of accuracy, label_accuracy and likelihood that `gain` may be of: one that evaluate only
    shows beside has its gain under its own name, `<metric>_gain`. Where evaluate gives no
    bounds, but says of how many `judged_tasks` the cases are, these are too few for any.

    Raises:
        ContractBroken: evaluate did not report what the gate needs.
    """
    metric = _found(metrics) if gate.metric == "auto" else gate.metric
    figure, *cases = _COUNTED[metric]
    start, end = f"start_{metric}", f"end_{metric}"
    bounds = ("gain_low", "gain_high")
    unknown = "judged_tasks" in metrics and not metrics.keys() & set(bounds)
    needed = (start, end, "gain", *(() if unknown else bounds), figure)
    missing = [name for name in needed if name not in metrics]
    if missing:
        raise ContractBroken(f"evaluate reported no {', '.join(missing)}; the gate needs them")
    shown = (
        f"{metric} {metrics[start]:.3f} to {metrics[end]:.3f} "
        f"over {int(metrics[figure])} {agreeing(metrics[figure], *cases)}, "
        f"gain {metrics['gain']:+.3f}"
    )
    if unknown:
        return Judgement(False, f"{shown}: {_too_few(int(metrics['judged_tasks']))}")
    shown += f" [{metrics['gain_low']:+.3f}, {metrics['gain_high']:+.3f}]"
    if metrics["gain_low"] > gate.min_gain:
        return Judgement(True, f"{shown}: above the gate's {gate.min_gain:+.3f}")
    return Judgement(False, f"{shown}: not wholly above the gate's {gate.min_gain:+.3f}")


def _too_few(tasks: int) -> str:
    found = counted(tasks, "task")
    return f"they are of {found}, too few to know if others would gain; drop episodes of more tasks"


def _found(metrics: Mapping[str, float]) -> str:
    judged = (name for name in _COUNTED if f"{name}_gain" not in metrics)
    return next((name for name in judged if f"start_{name}" in metrics), "accuracy")
