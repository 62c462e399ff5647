"""What a question to an account is answered, and the two answers that every check shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from relay.doctor.finding import Finding, unknown, wrong

Found = Mapping[str, Any]


class Missing(NamedTuple):
    """There is no such thing."""

    words: str


class Unanswered(NamedTuple):
    """The question was refused, or nobody answered."""

    words: str
    remedy: str


Answer = Found | Missing | Unanswered


def judge(name: str, answer: Answer, *, missing: str, by: Callable[[Found], Finding]) -> Finding:
    """A finding from an answer.

    Args:
        name: what was looked at.
        answer: what was said.
        missing: the remedy when there is no such thing.
        by: judges what was found.
    """
    if isinstance(answer, Unanswered):
        return unknown(name, answer.words, answer.remedy)
    if isinstance(answer, Missing):
        return wrong(name, answer.words, missing)
    return by(answer)


def found(answer: Answer) -> Found:
    """What was found; nothing, when nothing was."""
    return {} if isinstance(answer, Missing | Unanswered) else answer
