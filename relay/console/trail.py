"""The figures of a run's jobs as they moved while somebody watched."""

from __future__ import annotations

from contracts.names import AttemptKey
from relay.console.figures import LIVE
from relay.console.story import RunStory


class Trail:
    """Values of the watched metrics by job, one for each progress report seen."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], list[float]] = {}
        self._sequence: dict[str, int] = {}

    def take(self, story: RunStory) -> None:
        """Note what is new."""
        for state in story.states:
            for attempt in state.attempts:
                progress = attempt.progress
                if progress is None or progress.sequence <= self._sequence.get(attempt.job, 0):
                    continue
                self._sequence[attempt.job] = progress.sequence
                for name, _ in LIVE:
                    if name in progress.metrics:
                        values = self._seen.setdefault((attempt.job, name), [])
                        values.append(progress.metrics[name])

    def values(self, job: str | AttemptKey, metric: str) -> list[float]:
        """A metric's values of one job, the oldest first."""
        name = job if isinstance(job, str) else job.job_name
        return self._seen.get((name, metric), [])
