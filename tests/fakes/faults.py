"""Crashes at chosen calls: before the effect, or after it with its answer lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal


class Crash(BaseException):
    """The function's process is gone; no handler of exceptions sees this."""


class Faults:
    """Counts the calls of all ports, and raises at the one that was armed."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._when: Literal["before", "after"] = "before"
        self.calls = 0
        self.crashed = False

    def arm(self, calls: int, when: Literal["before", "after"]) -> None:
        """Crash at the `calls`-th call from now."""
        self._left, self._when = calls, when

    def disarm(self) -> None:
        self._left = None

    def through(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        now = False
        if self._left is not None:
            self._left -= 1
            now = self._left <= 0
        if now and self._when == "before":
            self._left = None
            self.crashed = True
            raise Crash
        answer = call(*args, **kwargs)
        if now:
            self._left = None
            self.crashed = True
            raise Crash
        return answer


class Faulty:
    """A port whose named methods go through `Faults`."""

    def __init__(self, target: Any, faults: Faults, *methods: str) -> None:
        self._target = target
        self._faults = faults
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if name not in self._methods:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._faults.through(found, *args, **kwargs)

        return call
