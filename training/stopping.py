"""Ending early: on a signal or at the deadline the work saves its state, within a grace."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Literal, Self

GRACE_S = 20.0
"""For the step at hand and a checkpoint; Kubernetes gives 30 s before it kills."""
_LAST_RESORT_S = 5.0

Handler = Callable[[int, FrameType | None], object] | int | None
Reason = Literal["signal", "deadline"]


def leave_on_sigterm() -> None:
    """End by 143 on SIGTERM until a `StopRequest` listens.

    A container's first process is not ended by a signal that it has no handler for.
    """

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)


class StopRequest:
    """Whether the job shall end, why, and how long the work may still take.

    The work sees a file, as it may run on another machine; the driver sees this object.
    """

    def __init__(self, mark: Path, grace_s: float = GRACE_S) -> None:
        self._mark = mark
        self._grace_s = grace_s
        self._asked_at = 0.0
        self._timers: list[threading.Timer] = []
        self._turn = threading.Lock()
        self._over = False
        self._handlers: dict[signal.Signals, Handler] = {}
        self.reason: Reason | None = None
        self.signal = signal.SIGTERM

    def __enter__(self) -> Self:
        """Forget a mark that an earlier process of this attempt may have left."""
        self._mark.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more: there is nothing left to end."""
        with self._turn:
            self._over = True
            for timer in self._timers:
                timer.cancel()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def ask(self, reason: Reason) -> None:
        """Ask once; the first reason counts."""
        if self.reason is None:
            self.reason = reason
            self._asked_at = time.monotonic()
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            self._mark.touch()

    @property
    def exit_code(self) -> int:
        """What a shell expects of a process that a signal ended."""
        return 128 + self.signal

    @property
    def overdue(self) -> bool:
        """Whether the grace is over."""
        return self.reason is not None and time.monotonic() - self._asked_at > self._grace_s

    def listen(self, working: Callable[[], bool]) -> None:
        """Ask on SIGTERM and SIGINT; leave at once while there is no work to wait for.

        Should the main thread be stuck beyond the grace, the process ends all the same.
        """

        def heard(number: int, _: FrameType | None) -> None:
            self.signal = signal.Signals(number)
            self.ask("signal")
            self._after(self._grace_s + _LAST_RESORT_S, lambda: os._exit(self.exit_code))
            if not working():
                raise SystemExit(self.exit_code)

        for listened in (signal.SIGTERM, signal.SIGINT):
            before = signal.signal(listened, heard)
            self._handlers.setdefault(listened, before)

    def at(self, deadline: datetime, *, last_resort: Callable[[], None]) -> None:
        """Ask at the deadline.

        Args:
            deadline: when.
            last_resort: called, before the process ends, should the main thread be stuck.
        """

        def give_up() -> None:
            try:
                last_resort()
            finally:
                os._exit(1)

        def due() -> None:
            self.ask("deadline")
            self._after(self._grace_s + _LAST_RESORT_S, give_up)

        self._after(max(0.0, (deadline - datetime.now(UTC)).total_seconds()), due)

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), call)
        timer.daemon = True
        with self._turn:
            # A timer that goes off while all are cancelled must not start another.
            if not self._over:
                self._timers.append(timer)
                timer.start()
