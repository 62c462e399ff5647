"""When a call to the cluster is tried again, and when no call is made for a while."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

TRIES = 4
BUDGET_S = 8.0
"""The last try of a call begins within it: the functions have 20 s in all."""
REST_S = 10.0
"""After a call was given up nobody calls for this long, so that a turn of many jobs ends."""
_FIRST_WAIT_S = 0.2
_WAIT_MAX_S = 4.0


class Patience:
    """Bounded tries with full jitter; a cluster that is down is left in peace for a while."""

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[float, float], float] = random.uniform,
    ) -> None:
        """Wait by a clock and a chance.

        Args:
            now: seconds that also pass while a container is frozen.
            sleep: waits for seconds.
            chance: a number between two.
        """
        self.now = now
        self._sleep = sleep
        self._chance = chance
        self._down_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether no call is to be made now."""
        return self.now() < self._down_until

    def give_up(self) -> None:
        """Begin to rest."""
        self._down_until = self.now() + REST_S

    def wait(self, tries: int, started_at: float, at_least: float = 0.0) -> bool:
        """Wait before the next try; False, at once, when there is to be none.

        Args:
            tries: made so far.
            started_at: when the first began, by `now`.
            at_least: seconds that the server asked for.
        """
        if tries >= TRIES:
            return False
        jittered = self._chance(0.0, min(_WAIT_MAX_S, _FIRST_WAIT_S * 2.0**tries))
        pause = max(at_least, jittered)
        if self.now() - started_at + pause > BUDGET_S:
            return False
        self._sleep(pause)
        return True
