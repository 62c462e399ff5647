"""Agents of a test's own: on a clock moved by hand, and a Ray that does as the test says."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from process_ray import ProcessRay


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def pass_s(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


class Keeper:
    """Says of Ray what a test tells it to, and brings it back."""

    def __init__(self, ray: ProcessRay) -> None:
        self.ray, self.restarts, self.says_alive = ray, 0, None
        self.says_it_grows = False

    def alive(self) -> bool | None:
        return self.says_alive

    def grows(self) -> bool:
        return self.says_it_grows

    def restart(self) -> None:
        self.restarts += 1
        self.says_alive = None
        self.ray.come_back()


def until(condition: Callable[[], bool], limit_s: float = 10) -> None:
    give_up = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.05)
