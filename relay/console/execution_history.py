"""From a history of events to the states that an execution went through. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

_ENTERED = re.compile(r"^(Task|Wait|Choice|Pass|Succeed|Fail|Parallel|Map)StateEntered$")
_EXITED = re.compile(r"^\w+StateExited$")


@dataclass(frozen=True)
class Visit:
    """One stay in a state; `exited_at` is None while it lasts, or if it failed."""

    name: str
    kind: str
    entered_at: datetime
    exited_at: datetime | None = None


def visits(events: Iterable[Mapping[str, Any]]) -> list[Visit]:
    """States in the order they were entered.

    Args:
        events: of GetExecutionHistory, the oldest first. A state that was left by an error has
            no exit event; it lasts until the next state is entered.
    """
    found: list[Visit] = []
    for event in events:
        at: datetime = event["timestamp"]
        entered = _ENTERED.match(event["type"])
        if entered:
            name = event["stateEnteredEventDetails"]["name"]
            found.append(Visit(name, entered[1].lower(), at))
        elif _EXITED.match(event["type"]):
            _leave(found, event["stateExitedEventDetails"]["name"], at)
    return found


def _leave(found: list[Visit], name: str, at: datetime) -> None:
    for index in range(len(found) - 1, -1, -1):
        if found[index].name == name and found[index].exited_at is None:
            found[index] = replace(found[index], exited_at=at)
            return
