"""Times as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def clock(seconds: float) -> str:
    """`0:07`, `12:34`, `1:02:03`, `2 d 03:04` of a number of seconds."""
    whole = max(0, round(seconds))
    if whole >= _DAY:
        rest = whole % _DAY
        return f"{whole // _DAY} d {rest // _HOUR:02d}:{rest % _HOUR // _MINUTE:02d}"
    if whole >= _HOUR:
        return f"{whole // _HOUR}:{whole % _HOUR // _MINUTE:02d}:{whole % _MINUTE:02d}"
    return f"{whole // _MINUTE}:{whole % _MINUTE:02d}"


def ago(then: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(0, int((now - then).total_seconds()))
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def moment(at: datetime, zone: datetime | None = None) -> str:
    """Local date and time to the second; `zone` lends its time zone to tests."""
    return at.astimezone(zone.tzinfo if zone else None).strftime("%Y-%m-%d %H:%M:%S")


def now() -> datetime:
    """Aware UTC time."""
    return datetime.now(UTC)
