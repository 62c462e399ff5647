"""Listening to the work: progress goes out, time is watched, the outcome comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from contracts.errors import JobCrashed
from contracts.result import ObjectReport
from training.assignment import Assignment
from training.cluster import Cluster, not_started
from training.events import Advance, Done, Event, Inspected, Stopped
from training.reporter import Reporter
from training.stopping import StopRequest

SILENCE_MAX_S = 1_800.0
"""Work that says nothing for so long is taken for hung; loading a large model takes minutes."""
SOON_S = 5.0
"""Ray starts a task sooner than this unless it lacks something."""


@dataclass
class Hearing:
    """What has been heard of the work.

    Attributes:
        reporter: where signs of life go.
        stop: whether the job shall end.
        inspected: what was found in the drops.
        begun: whether the work has started.
        working: whether there is work that may need to save its state.
    """

    reporter: Reporter
    stop: StopRequest
    inspected: tuple[ObjectReport, ...] = ()
    begun: bool = False
    working: bool = False
    _heard_at: float = field(default_factory=time.monotonic)

    def listen(
        self, cluster: Cluster, events: Iterator[Event | None], assignment: Assignment
    ) -> Done | None:
        """Follow the work to its end, or until a stop's grace is over.

        Returns:
            Its outcome; None when it was stopped.

        Raises:
            JobNotStarted: Ray did not start it within the pipeline's start limit.
            JobCrashed: it said nothing for `SILENCE_MAX_S`, or ended without an outcome.
            RelayError: what it raised itself.
        """
        self.working = True
        self._heard_at = time.monotonic()
        try:
            for event in events:
                if isinstance(event, Done | Stopped):
                    return event if isinstance(event, Done) else None
                if self.stop.overdue or (self.stop.reason and not self.begun):
                    return None
                self._take(event)
                if event is None:
                    self._watch_silence(cluster, assignment)
        finally:
            self.working = False
        raise JobCrashed("the work ended without an outcome")

    def _take(self, event: Event | None) -> None:
        if event is not None:
            self.begun = True
            self._heard_at = time.monotonic()
        if isinstance(event, Advance):
            self.reporter.report(event)
        elif isinstance(event, Inspected):
            self.inspected = event.objects
        else:
            self.reporter.tick()

    def _watch_silence(self, cluster: Cluster, assignment: Assignment) -> None:
        silence = time.monotonic() - self._heard_at
        if self.begun:
            if silence > SILENCE_MAX_S:
                raise JobCrashed(f"the work has said nothing for {silence:.0f} s")
            return
        if silence > SOON_S:
            self.reporter.report(Advance(cluster.shortage(assignment)))
        if silence > assignment.plan.pipeline.patience.start_limit_s:
            raise not_started(silence, cluster.shortage(assignment))
