"""The figures that a candidate is judged by when it plays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from training.rollouts.statistics import statistics
from training.statistics.clusters import clustered_mean
from training.statistics.proportions import Interval, paired_difference, wilson

if TYPE_CHECKING:
    from training.rollouts.episode import Episode

TABLE_MAX = 100
"""Most tasks that the table names one by one."""
_SHOWN = ("turns", "tokens", "length", "longest", "truncated", "format_errors", "failed")


def compare(
    before: Sequence[Episode], after: Sequence[Episode], greedy: Sequence[Episode], *, metric: str
) -> dict[str, float]:
    """Success and mean reward before and after, each with 95% bounds, and the gain in one.

    Shares have Wilson's interval, mean rewards Student's. The gain is paired, as both policies
    played the same seeds: Newcombe's interval for success, Student's of the differences for mean
    reward. A game whose environment failed counts as lost.

    Games of one task count as independent, unlike episodes that were dropped: a seed of its own
    is all the chance in a game, and which tasks are played is no chance. Where there are more
    games than tasks, all tasks are played in equal shares, and the figures are of these very
    tasks; where there are fewer, no task is played twice.

    Args:
        before: sampled games of the start policy, by index.
        after: the candidate's, on the same seeds.
        greedy: the candidate's, without chance, one a task.
        metric: the gate's, `success_rate` or `mean_reward`.

    Returns:
        `start_…`, `end_…`, `gain…`, `greedy_success_rate`, the table `success_task_<n>` of the
        candidate's sampled games, `tasks_lost` (never solved among them), and how it played.

    Raises:
        ValueError: the two did not play the same games.
    """
    if [(game.index, game.seed) for game in before] != [(game.index, game.seed) for game in after]:
        raise ValueError("the policies played different games")
    gain = success_gain(before, after) if metric == "success_rate" else reward_gain(before, after)
    return {
        **_shares("start_success_rate", before),
        **_shares("end_success_rate", after),
        **_rewards("start_mean_reward", before),
        **_rewards("end_mean_reward", after),
        **gain.named("gain"),
        "episodes": float(len(after)),
        **_shares("greedy_success_rate", greedy),
        **_table(after),
        "tasks_lost": float(len(lost_tasks(after))),
        **_manner("start", before),
        **_manner("end", after),
    }


def success_gain(before: Sequence[Episode], after: Sequence[Episode]) -> Interval:
    """Share of games won after, less that before, of the same games."""
    wins = [(one.success, two.success) for one, two in zip(before, after, strict=True)]
    return paired_difference(
        both=wins.count((True, True)),
        first_only=wins.count((False, True)),
        second_only=wins.count((True, False)),
        neither=wins.count((False, False)),
    )


def reward_gain(before: Sequence[Episode], after: Sequence[Episode]) -> Interval:
    """Mean reward after, less that before, of the same games."""
    gains = [two.reward - one.reward for one, two in zip(before, after, strict=True)]
    return clustered_mean(gains, range(len(gains)))


def lost_tasks(games: Sequence[Episode]) -> list[int]:
    """Tasks that were played and never solved."""
    return [task for task, won in _by_task(games).items() if not any(won)]


def _by_task(games: Sequence[Episode]) -> dict[int, list[bool]]:
    won: defaultdict[int, list[bool]] = defaultdict(list)
    for game in games:
        won[game.task].append(game.success)
    return dict(sorted(won.items()))


def _table(games: Sequence[Episode]) -> dict[str, float]:
    tasks = _by_task(games)
    if len(tasks) > TABLE_MAX:
        return {}
    table: dict[str, float] = {}
    for task, won in tasks.items():
        table |= wilson(sum(won), len(won)).named(f"success_task_{task}")
    return table


def _shares(name: str, games: Sequence[Episode]) -> dict[str, float]:
    return wilson(sum(game.success for game in games), len(games)).named(name)


def _rewards(name: str, games: Sequence[Episode]) -> dict[str, float]:
    return clustered_mean([game.reward for game in games], range(len(games))).named(name)


def _manner(side: str, games: Sequence[Episode]) -> Mapping[str, float]:
    figures = statistics(games)
    return {
        f"{side}_{name}": value
        for name, value in figures.items()
        if name in _SHOWN or name.startswith("pass_at_")
    }
