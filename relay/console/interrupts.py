"""Requests to end, heeded once: tidying up is never cut short by a second one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Within it, signals to end are ignored, but for the first one in `heeded`."""

    def __enter__(self) -> Self:
        self._before: dict[signal.Signals, Any] = {one: signal.getsignal(one) for one in SIGNALS}
        self._ignore()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Turn the first request to end into KeyboardInterrupt; ignore all after it.

        However the block is left, requests are ignored again by then: the handler itself sees to
        it when it interrupts, so no moment is left in which a second one could.
        """
        try:
            for number in SIGNALS:
                signal.signal(number, self._interrupt)
            yield
        finally:
            self._ignore()

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self._ignore()
        raise KeyboardInterrupt

    def _ignore(self) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
