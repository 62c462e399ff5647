"""The gate: a pure judgement of evaluate's metrics by the plan's frozen gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contracts.errors import ContractBroken
from contracts.pipeline import Gate

_NEEDED = ("start_accuracy", "end_accuracy", "gain", "gain_low", "gain_high", "pairs")


class Judgement(NamedTuple):
    """Whether a candidate passes, in a sentence."""

    passed: bool
    reason: str


def judge(gate: Gate, metrics: Mapping[str, float]) -> Judgement:
    """Pass a candidate whose gain is above the gate's by its whole 95% interval.

    Raises:
        ContractBroken: evaluate did not report what the gate needs.
    """
    missing = [name for name in _NEEDED if name not in metrics]
    if missing:
        raise ContractBroken(f"evaluate reported no {', '.join(missing)}; the gate needs them")
    shown = (
        f"{gate.metric} {metrics['start_accuracy']:.3f} to {metrics['end_accuracy']:.3f} "
        f"over {int(metrics['pairs'])} held-out pairs, "
        f"gain {metrics['gain']:+.3f} [{metrics['gain_low']:+.3f}, {metrics['gain_high']:+.3f}]"
    )
    if metrics["gain_low"] > gate.min_gain:
        return Judgement(True, f"{shown}: above the gate's {gate.min_gain:+.3f}")
    return Judgement(False, f"{shown}: not wholly above the gate's {gate.min_gain:+.3f}")
