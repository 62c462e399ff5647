"""What Lambda tells a call of itself, as far as it is asked."""

from __future__ import annotations

from typing import Any


class FakeContext:
    """So many seconds are left at each asking, then the next number; the last one stays."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = list(seconds or (300.0,))

    def get_remaining_time_in_millis(self) -> int:
        left = self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]
        return int(left * 1000)


CONTEXT: Any = FakeContext()
"""Of a call that has all the time it needs."""
