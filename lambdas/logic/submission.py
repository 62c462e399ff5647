"""Which attempt a task token stands for: a pure choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contracts.counting import counted
from contracts.errors import AttemptsExhausted
from contracts.ledger import AttemptRecord


class Adopt(NamedTuple):
    """The token is known: see that its job exists."""

    attempt: AttemptRecord


class TakeOver(NamedTuple):
    """An attempt was reserved and never got its job: it gets this token."""

    attempt: AttemptRecord


class Reserve(NamedTuple):
    """A new attempt."""

    number: int


Choice = Adopt | TakeOver | Reserve


def choose(attempts: Sequence[AttemptRecord], token: str, allowed: int) -> Choice:
    """Choose for a token among a phase's attempts, the oldest first.

    Raises:
        AttemptsExhausted: `allowed` jobs were submitted already.
    """
    for attempt in attempts:
        if attempt.token == token:
            return Adopt(attempt)
    if attempts and attempts[-1].status == "RESERVED":
        return TakeOver(attempts[-1])
    if len(attempts) >= allowed:
        last = attempts[-1]
        why = f"{last.error}: {last.cause}" if last.error else last.status
        raise AttemptsExhausted(
            f"{last.phase} of round {last.round} used its {counted(allowed, 'attempt')}; "
            f"the last: {why}"
        )
    return Reserve(len(attempts) + 1)


def previous(attempts: Sequence[AttemptRecord], number: int) -> AttemptRecord | None:
    """The attempt before `number`, whose job has to be gone first."""
    before = [attempt for attempt in attempts if attempt.attempt < number]
    return before[-1] if before else None
