"""Progress objects: the first at once, then at most one an interval, the newest word wins."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from contracts import layout
from contracts.errors import RelayError
from contracts.job import JobSpec
from contracts.progress import Progress
from training.events import Advance
from training.objects import Objects

logger = logging.getLogger(__name__)
REPEAT_S = 15.0
"""A running job that has nothing new to say repeats itself this often."""
_STAGE_MAX = 80


class Reporter:
    """Writes `progress.json` of one attempt."""

    def __init__(
        self, spec: JobSpec, objects: Objects, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._spec = spec
        self._objects = objects
        self._clock = clock
        self._sequence = 0
        self._written_at = float("-inf")
        self._latest: Advance | None = None
        self._pending = False

    def report(self, advance: Advance) -> None:
        """Take a sign of life; write it now if an interval has gone by."""
        self._latest = advance
        self._pending = True
        self.tick()

    def tick(self) -> None:
        """Write what waited for its interval, or repeat the last word after a silence."""
        since = self._clock() - self._written_at
        interval = self._spec.progress_interval_s
        wait = interval if self._pending else max(interval, REPEAT_S)
        if self._latest is not None and since >= wait:
            self._write(self._latest)

    @contextmanager
    def repeating(self, every_s: float = 5.0) -> Iterator[None]:
        """Repeat the last word while something goes on that cannot speak; say nothing within."""
        over = threading.Event()

        def repeat() -> None:
            while not over.wait(every_s):
                self.tick()

        thread = threading.Thread(target=repeat, name="repeating", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _write(self, advance: Advance) -> None:
        self._sequence += 1
        progress = Progress(
            run=self._spec.run,
            round=self._spec.round,
            phase=self._spec.phase,
            attempt=self._spec.attempt,
            nonce=self._spec.nonce,
            sequence=self._sequence,
            at=datetime.now(UTC),
            stage=advance.stage[:_STAGE_MAX],
            step=advance.step,
            steps=advance.steps,
            metrics=dict(advance.metrics),
        )
        self._written_at = self._clock()
        self._pending = False
        try:
            self._objects.put(layout.progress(self._spec.key), progress.to_bytes())
        except RelayError as error:
            logger.warning("a sign of life was lost: %s", error)
