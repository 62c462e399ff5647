"""What the doctor says of one prerequisite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

Verdict = Literal["ok", "wrong", "unknown"]


@dataclass(frozen=True)
class Finding:
    """One prerequisite.

    Attributes:
        name: what was looked at.
        verdict: unknown is what could not be seen, and what will only show in time.
        seen: what there is, in words.
        remedy: what to do; empty when it is ok.
    """

    name: str
    verdict: Verdict
    seen: str
    remedy: str = ""

    def json(self) -> dict[str, str]:
        """As printed by `--output json`."""
        return asdict(self)


def ok(name: str, seen: str) -> Finding:
    """It is as it must be."""
    return Finding(name, "ok", seen)


def wrong(name: str, seen: str, remedy: str) -> Finding:
    """It keeps Relay from working."""
    return Finding(name, "wrong", seen, remedy)


def unknown(name: str, seen: str, remedy: str) -> Finding:
    """Nobody can tell from here, or not yet."""
    return Finding(name, "unknown", seen, remedy)


def healthy(findings: Iterable[Finding]) -> bool:
    """Whether nothing is wrong."""
    return all(one.verdict != "wrong" for one in findings)
