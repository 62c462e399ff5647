"""The cluster's time: the machine's, and as much more as a test says has passed."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Whatever tells the time."""

    def now(self) -> datetime: ...

    def advance(self, seconds: float) -> None: ...


class ClusterClock:
    """Runs by itself; `advance` makes an hour pass at once."""

    def __init__(self) -> None:
        self._ahead = timedelta()
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._ahead += timedelta(seconds=seconds)


def stamp(moment: datetime) -> str:
    """As Kubernetes writes times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_stamp(text: str) -> datetime:
    return datetime.fromisoformat(text)
