"""How long a call may still go on: a bound on work, so that it stops before it is cut off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from contracts.errors import ServiceUnavailable

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from lambdas.ports import Clock


@dataclass(frozen=True)
class TimeLeft:
    """Time by a clock; what it bounds does at least one step, so that every call comes further."""

    clock: Clock
    until: datetime

    @classmethod
    def of(cls, clock: Clock, seconds: float) -> TimeLeft:
        """So many seconds from now."""
        return cls(clock, clock.now() + timedelta(seconds=seconds))

    @classmethod
    def of_call(cls, context: LambdaContext, clock: Clock, *, reserve_s: float) -> TimeLeft:
        """What Lambda leaves a call, but for a reserve to answer in."""
        return cls.of(clock, context.get_remaining_time_in_millis() / 1000 - reserve_s)

    def part(self, share: float) -> TimeLeft:
        """The first part of it; `share` is within 0 and 1."""
        now = self.clock.now()
        return TimeLeft(self.clock, now + (self.until - now) * share)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be begun."""
        return self.clock.now() > self.until

    def demand(self, what: str) -> None:
        """Go on only while there is time.

        Raises:
            ServiceUnavailable: there is none; the next call goes on with `what`.
        """
        if self.is_over:
            raise ServiceUnavailable(f"{what}: not done within one call; the next goes on")
