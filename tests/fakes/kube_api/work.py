"""What a Ray job does while its RayJob runs: nothing for a while, or a test's function."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from fakes.kube_api.clock import Clock

Job = dict[str, Any]


class Work(Protocol):
    """One Ray job. `outcome` is None while it runs, then SUCCEEDED or FAILED."""

    def start(self, job: Job, log: Callable[[str], None]) -> None: ...

    def outcome(self) -> str | None: ...

    def stop(self) -> None: ...


class Idle:
    """Runs for so many seconds of the cluster's time."""

    def __init__(self, clock: Clock, seconds: float, ends: str = "SUCCEEDED", *lines: str) -> None:
        self._clock, self._seconds, self._ends = clock, seconds, ends
        self._lines = lines
        self._until = None

    def start(self, job: Job, log: Callable[[str], None]) -> None:
        self._until = self._clock.now().timestamp() + self._seconds
        for line in self._lines or (f"{job['metadata']['name']} works",):
            log(line)

    def outcome(self) -> str | None:
        over = self._until is not None and self._clock.now().timestamp() >= self._until
        return self._ends if over else None

    def stop(self) -> None:
        self._until = None


class Play:
    """Runs a function in a thread; it is told by an event that it shall stop.

    The function returns whether it did well. What it raises is a failed job, with the error as
    the log's last line.
    """

    def __init__(
        self, function: Callable[[Job, threading.Event, Callable[[str], None]], bool]
    ) -> None:
        self._function = function
        self._stop = threading.Event()
        self._outcome: str | None = None
        self._thread: threading.Thread | None = None

    def start(self, job: Job, log: Callable[[str], None]) -> None:
        self._thread = threading.Thread(target=self._run, args=(job, log), daemon=True)
        self._thread.start()

    def outcome(self) -> str | None:
        return self._outcome

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(20)

    def _run(self, job: Job, log: Callable[[str], None]) -> None:
        try:
            self._outcome = "SUCCEEDED" if self._function(job, self._stop, log) else "FAILED"
        except Exception as error:  # whatever a job dies of, it has failed
            log(f"{type(error).__name__}: {error}")
            self._outcome = "FAILED"
