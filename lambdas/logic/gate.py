"""The gate: a pure judgement of evaluate's metrics by the plan's frozen gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contracts.errors import ContractBroken
from contracts.pipeline import Gate

_CASES = {"pairs": "held-out pairs", "episodes": "episodes on held-out seeds"}
"""What a policy may be judged on: the metric that counts it, and what it is called."""


class Judgement(NamedTuple):
    """Whether a candidate passes, in a sentence."""

    passed: bool
    reason: str


def judge(gate: Gate, metrics: Mapping[str, float]) -> Judgement:
    """Pass a candidate whose gain is above the gate's by its whole 95% interval.

    The metrics are to hold `start_<metric>`, `end_<metric>`, the `gain` between them with its
    bounds `gain_low` and `gain_high`, and on how many `pairs` or `episodes` it was found.

    Raises:
        ContractBroken: evaluate did not report what the gate needs.
    """
    start, end = f"start_{gate.metric}", f"end_{gate.metric}"
    counted = "pairs" if gate.metric == "accuracy" else "episodes"
    needed = (start, end, "gain", "gain_low", "gain_high", counted)
    missing = [name for name in needed if name not in metrics]
    if missing:
        raise ContractBroken(f"evaluate reported no {', '.join(missing)}; the gate needs them")
    shown = (
        f"{gate.metric} {metrics[start]:.3f} to {metrics[end]:.3f} "
        f"over {int(metrics[counted])} {_CASES[counted]}, "
        f"gain {metrics['gain']:+.3f} [{metrics['gain_low']:+.3f}, {metrics['gain_high']:+.3f}]"
    )
    if metrics["gain_low"] > gate.min_gain:
        return Judgement(True, f"{shown}: above the gate's {gate.min_gain:+.3f}")
    return Judgement(False, f"{shown}: not wholly above the gate's {gate.min_gain:+.3f}")
