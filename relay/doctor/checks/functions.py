"""The functions: ready to run, and called when there is something to do."""

from __future__ import annotations

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown, wrong

NAMES = ("intake", "submit", "report", "decide", "sweep")
READERS = ("intake", "report")
"""Functions that a queue's messages are given to."""
_REDEPLOY = "`cdk deploy` again; its reason is in the function's page in the console"


def named(answer: Found) -> str:
    """Which of ours a function is, by its handler; empty when none of them."""
    parts = str(answer.get("Handler", "")).split(".")
    return parts[1] if parts[:1] == ["lambdas"] and len(parts) > 1 else ""


def ready(name: str, answer: Answer) -> Finding:
    """Whether a function can be called, with the code that was deployed last."""
    about = f"function {name}"

    def by(found: Found) -> Finding:
        state = found.get("State", "Active")
        update = found.get("LastUpdateStatus", "Successful")
        seen = f"{state}, last update {update}, {found.get('Runtime', 'no runtime')}"
        if state == "Pending" or update == "InProgress":
            return unknown(about, seen, "wait a moment, and look again")
        if state not in {"Active", "Inactive"} or update != "Successful":
            reason = found.get("StateReason") or found.get("LastUpdateStatusReason") or ""
            return wrong(about, f"{seen} {reason}".strip(), _REDEPLOY)
        return ok(about, seen)

    return judge(about, answer, missing="`cdk deploy`: the stack lacks the function", by=by)


def fed(name: str, answer: Answer) -> Finding:
    """Whether a queue's messages reach the function."""
    about = f"messages to {name}"

    def by(found: Found) -> Finding:
        sources = found.get("EventSourceMappings", [])
        if not sources:
            return wrong(about, "no queue is read", "`cdk deploy`: the event source is missing")
        states = sorted({str(one.get("State", "")) for one in sources})
        if states != ["Enabled"]:
            remedy = f"enable the trigger of {name} (update-event-source-mapping --enabled)"
            return wrong(about, f"event source {', '.join(states)}", remedy)
        if not all(
            "ReportBatchItemFailures" in one.get("FunctionResponseTypes", []) for one in sources
        ):
            remedy = "`cdk deploy`: the event source was changed by hand"
            return wrong(about, "one failed message makes a whole batch fail", remedy)
        return ok(about, "event source Enabled, failures reported one by one")

    return judge(about, answer, missing="`cdk deploy`: the event source is missing", by=by)
