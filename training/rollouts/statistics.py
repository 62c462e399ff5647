"""What a set of episodes amounts to."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

from training.rollouts.episode import Episode

_K_MAX = 64


class Tally:
    """Adds up episodes one by one, keeping none.

    Attributes:
        episodes: how many were added, failed ones included.
        failures: how often each reason to fail came.
    """

    def __init__(self) -> None:
        self.episodes = 0
        self.failures: Counter[str] = Counter()
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._longest = 0
        self._played: Counter[int] = Counter()
        self._solved: Counter[int] = Counter()

    @property
    def failed(self) -> int:
        """Episodes whose environment failed."""
        return sum(self.failures.values())

    def add(self, episode: Episode) -> None:
        """Count an episode; one that failed goes into no mean."""
        self.episodes += 1
        if episode.failed:
            self.failures[episode.failed] += 1
            return
        self._played[episode.task] += 1
        self._solved[episode.task] += episode.success
        self._longest = max(self._longest, len(episode.ids))
        values: dict[str, float] = {
            "reward": episode.reward,
            "turns": episode.turns,
            "sampled": sum(episode.actions),
            "length": len(episode.ids),
            "truncated": episode.truncated,
            "format_errors": episode.format_errors,
        }
        for name, value in values.items():
            self._sums[name] += value

    def figures(self) -> dict[str, float]:
        """Counts, and means over the episodes that did not fail, if there are any.

        `turns`, `tokens` (sampled ones) and `length` are means an episode; `truncated` is the
        share of episodes, `format_errors` that of turns; `pass_at_k` the chance that at least
        one of k episodes of a task succeeds, averaged over tasks.
        """
        counts = {"episodes": float(self.episodes), "failed": float(self.failed)}
        played = self._played.total()
        if not played:
            return counts
        sums = self._sums
        return (
            counts
            | {
                "mean_reward": sums["reward"] / played,
                "success_rate": self._solved.total() / played,
                "turns": sums["turns"] / played,
                "tokens": sums["sampled"] / played,
                "length": sums["length"] / played,
                "longest": float(self._longest),
                "truncated": sums["truncated"] / played,
                "format_errors": sums["format_errors"] / max(1, sums["turns"]),
            }
            | self._passes()
        )

    def _passes(self) -> dict[str, float]:
        least = min(self._played.values())
        ks = [2**power for power in range(1, 7) if 2**power <= min(least, _K_MAX)]
        return {
            f"pass_at_{k}": math.fsum(
                pass_at(k, played, self._solved[task]) for task, played in self._played.items()
            )
            / len(self._played)
            for k in ks
        }


def pass_at(k: int, played: int, solved: int) -> float:
    """Unbiased chance that at least one of k episodes succeeds.

    Source: Chen et al., arXiv 2107.03374, equation 1: 1 - C(n-c, k) / C(n, k).

    Args:
        k: at least 1, at most `played`.
        played: episodes n of one task.
        solved: how many of them, c, succeeded.
    """
    return 1.0 - math.comb(played - solved, k) / math.comb(played, k)


def statistics(episodes: Iterable[Episode]) -> dict[str, float]:
    """The figures of a set of episodes; see `Tally.figures`."""
    tally = Tally()
    for episode in episodes:
        tally.add(episode)
    return tally.figures()
