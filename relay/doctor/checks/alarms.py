"""The stack's own alarms: what has already been noticed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, wrong


def quiet(answer: Answer) -> Finding:
    """Whether no alarm is on; each one's description ends with its runbook."""
    about = "alarms"

    def by(found: Found) -> Finding:
        there = found.get("MetricAlarms", [])
        on = [one for one in there if one.get("StateValue") == "ALARM"]
        if on:
            runbooks = ", ".join(sorted({_runbook(one) for one in on}))
            names = ", ".join(sorted(str(one.get("AlarmName", "")) for one in on))
            return wrong(about, f"on: {names}", f"go by {runbooks}")
        return ok(about, f"{len(there)}, none is on")

    return judge(about, answer, missing="`cdk deploy`: the stack lacks its alarms", by=by)


def _runbook(alarm: Mapping[str, Any]) -> str:
    words = str(alarm.get("AlarmDescription", "")).split()
    return words[-1] if words else "docs/operate/README.md"
