"""This machine's clock against AWS's: signatures are good for five minutes."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime

from relay.doctor.finding import Finding, ok, unknown, wrong

REFUSED_S = 300.0
"""AWS refuses signatures that are further from its time."""
_CLOSE_S = 30.0
_REMEDY = "set this machine's clock (chrony or systemd-timesyncd)"


def skew(date: str, now: datetime) -> Finding:
    """How far apart the clocks are.

    Args:
        date: header `Date` of an answer of AWS; empty when there was none.
        now: this machine's time, aware.
    """
    about = "clock"
    try:
        seconds = abs((now - parsedate_to_datetime(date)).total_seconds())
    except ValueError:
        return unknown(about, "AWS did not say what time it is", "compare it with any time server")
    seen = f"{seconds:.0f} s from AWS's"
    if seconds >= REFUSED_S:
        return wrong(about, seen, _REMEDY)
    return ok(about, seen) if seconds < _CLOSE_S else unknown(about, seen, _REMEDY)
