"""Calls into environments: each within a time limit, an exception no more than a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from contracts.errors import JobFailed

HELPERS_MAX = 15
"""Further threads that slow calls are given."""
HANGING_MAX = 64
"""So many calls may hang before the environment is held to be broken."""
_HELP_AFTER_S = 0.02
_REASON_MAX = 200

T = TypeVar("T")


@dataclass(frozen=True)
class Failure:
    """Why a call gave nothing."""

    reason: str


class Guard:
    """Makes calls in threads of their own, so that one that hangs holds nobody up.

    A thread cannot be ended from outside: one whose call hangs is left behind, as a daemon, and
    whatever the call may still give is dropped.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._hanging = 0

    def each(self, calls: Sequence[Callable[[], T]]) -> list[T | Failure]:
        """Make every call, each once; what they gave, in their order.

        One thread makes them one after another; when they turn out to be slow, more join in.

        Raises:
            JobFailed: `HANGING_MAX` calls have hung by now.
        """
        if not calls:
            return []
        batch = _Batch(calls, self._limit_s)
        outcomes = batch.run()
        self._hanging += batch.hanging
        if self._hanging >= HANGING_MAX:
            raise JobFailed(
                f"{self._hanging} steps of the environment did not end within {self._limit_s:g} s;"
                " mend it, or raise environment.step_limit_s"
            )
        return outcomes


class _Batch(Generic[T]):
    def __init__(self, calls: Sequence[Callable[[], T]], limit_s: float) -> None:
        self._calls = calls
        self._limit_s = limit_s
        self._outcomes: dict[int, T | Failure] = {}
        self._begun: dict[int, float] = {}
        self._next = 0
        self._changed = threading.Condition()
        self.hanging = 0

    def run(self) -> list[T | Failure]:
        self._start_threads(1)
        helped = False
        with self._changed:
            while len(self._outcomes) < len(self._calls):
                self._changed.wait(self._patience(helped))
                overdue = self._give_up_overdue()
                if not helped and len(self._outcomes) < len(self._calls):
                    helped = True
                    overdue += HELPERS_MAX
                self._start_threads(min(overdue, len(self._calls) - self._next))
            return [self._outcomes[index] for index in range(len(self._calls))]

    def _start_threads(self, count: int) -> None:
        for _ in range(count):
            threading.Thread(target=self._work, name="environment", daemon=True).start()

    def _patience(self, helped: bool) -> float:
        if not helped:
            return _HELP_AFTER_S
        soonest = min(self._begun.values(), default=time.monotonic())
        return max(0.0, soonest + self._limit_s - time.monotonic()) + 0.001

    def _give_up_overdue(self) -> int:
        now = time.monotonic()
        overdue = [index for index, at in self._begun.items() if now - at >= self._limit_s]
        for index in overdue:
            del self._begun[index]
            self._outcomes[index] = Failure(f"no answer within {self._limit_s:g} s")
        self.hanging += len(overdue)
        return len(overdue)

    def _work(self) -> None:
        index = self._take()
        while index is not None:
            outcome = _made(self._calls[index])
            with self._changed:
                if index in self._outcomes:
                    return  # It was given up, and another thread went on in this one's place.
                del self._begun[index]
                self._outcomes[index] = outcome
                if len(self._outcomes) == len(self._calls):
                    self._changed.notify()
            index = self._take()

    def _take(self) -> int | None:
        with self._changed:
            if self._next == len(self._calls):
                return None
            index = self._next
            self._next += 1
            self._begun[index] = time.monotonic()
            return index


def _made(call: Callable[[], T]) -> T | Failure:
    try:
        return call()
    except Exception as error:  # Another's code: whatever it raises fails one episode only.
        return Failure(f"{type(error).__name__}: {error}"[:_REASON_MAX])
