"""A clock that only moves when told, and chance that counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


class FakeClock:
    """Fulfils `lambdas.ports.Clock`; every reading is a microsecond later than the one before."""

    def __init__(self) -> None:
        self._now = START
        self._suffixes = 0
        self._nonces = 0

    def now(self) -> datetime:
        self._now += timedelta(microseconds=1)
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def suffix(self) -> str:
        self._suffixes += 1
        return f"s{self._suffixes:05d}"

    def nonce(self) -> str:
        self._nonces += 1
        return f"nonce-{self._nonces:026d}"
