"""The figures of a phase that a person wants to see, in a few words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts.counting import counted
from contracts.names import Phase
from contracts.progress import Progress

_BLOCKS = "▁▂▃▄▅▆▇█"
LIVE: tuple[tuple[str, str], ...] = (
    ("loss", "loss"),
    ("held_out_accuracy", "held-out accuracy"),
    ("held_out_label_accuracy", "held-out label accuracy"),
    ("held_out_likelihood", "held-out likelihood"),
    ("success", "success"),
    ("reward", "mean reward"),
    ("success_rate", "success"),
    ("mean_reward", "mean reward"),
)
"""Metrics of a progress report that are watched as they move, and what they are called."""
_SHARES = ("accuracy", "success")


def share(value: float) -> str:
    """A share as a percentage with one digit, as wide for 8 % as for 100 %."""
    return f"{value * 100:.1f} %"


def outcome_of(phase: Phase, metrics: Mapping[str, float]) -> str:
    """What a phase that is done came to; empty when it left no figures."""
    if not metrics:
        return ""
    return {"collect": _collected, "optimize": _optimized, "evaluate": _evaluated}[phase](metrics)


def _collected(metrics: Mapping[str, float]) -> str:
    parts = []
    if "records" in metrics:
        parts.append(f"{metrics.get('usable', 0):,.0f} of {counted(metrics['records'], 'record')}")
    if "train_good" in metrics:
        held_out = metrics.get("held_out_good", 0) + metrics.get("held_out_bad", 0)
        parts.append(f"{counted(metrics['train_good'], 'good one')} to learn from")
        parts.append(f"{metrics.get('train_bad', 0):,.0f} bad, {held_out:,.0f} held out")
    elif "train_pairs" in metrics:
        parts.append(f"{metrics['train_pairs']:,.0f} to learn from")
        parts.append(f"{metrics.get('held_out_pairs', 0):,.0f} held out")
    if "episodes" in metrics:
        parts.append(f"{counted(metrics['episodes'], 'game')} played")
    return ", ".join([*parts, *_moving(metrics)])


def _optimized(metrics: Mapping[str, float]) -> str:
    parts = [counted(metrics["steps"], "step")] if "steps" in metrics else []
    if "success_after" in metrics:
        return ", ".join([*parts, f"success {share(metrics['success_after'])} afterwards"])
    return ", ".join([*parts, *_moving(metrics)])


def _evaluated(metrics: Mapping[str, float]) -> str:
    if {"start_success_rate", "end_success_rate", "episodes"} <= metrics.keys():
        return _played(metrics)
    if not {"start_accuracy", "end_accuracy", "pairs"} <= metrics.keys():
        return _labelled(metrics)
    return (
        f"accuracy {share(metrics['start_accuracy'])} → {share(metrics['end_accuracy'])}"
        f" on {counted(metrics['pairs'], 'pair')}"
    )


def _labelled(metrics: Mapping[str, float]) -> str:
    if "start_label_accuracy" in metrics and "label_accuracy_gain" not in metrics:
        before, after = metrics["start_label_accuracy"], metrics["end_label_accuracy"]
        compared = counted(metrics.get("comparisons", 0), "comparison")
        return f"label accuracy {share(before)} → {share(after)} in {compared}"
    if "start_likelihood" in metrics:
        before, after = metrics["start_likelihood"], metrics["end_likelihood"]
        good = counted(metrics.get("held_out_good", 0), "good episode")
        return f"likelihood {before:.3f} → {after:.3f} nats a token in {good}"
    return ""


def _played(metrics: Mapping[str, float]) -> str:
    words = (
        f"success {share(metrics['start_success_rate'])} → {share(metrics['end_success_rate'])}"
        f" in {counted(metrics['episodes'], 'game')}"
    )
    if metrics.get("tasks_lost"):
        words += f", {counted(metrics['tasks_lost'], 'task')} never solved"
    return words


def _moving(metrics: Mapping[str, float]) -> list[str]:
    return [f"{words} {figure(name, metrics[name])}" for name, words in LIVE if name in metrics]


def figure(name: str, value: float) -> str:
    """A metric's value: shares in percent, all else with three digits behind the point."""
    return share(value) if any(word in name for word in _SHARES) else f"{value:.3f}"


def progress_words(progress: Progress) -> str:
    """A progress report in one line."""
    steps = f" {progress.step:,}/{progress.steps:,}" if progress.steps else ""
    return ", ".join([f"{progress.stage}{steps}", *_moving(progress.metrics)])


def sparkline(values: Sequence[float], width: int = 16) -> str:
    """The last `width` values as a row of blocks between their least and greatest."""
    shown = list(values)[-width:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    if high == low:
        return _BLOCKS[0] * len(shown)
    steps = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((value - low) / (high - low) * steps)] for value in shown)
