"""Queues: nothing given up, nothing piling up."""

from __future__ import annotations

from contracts.counting import counted
from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown, wrong

ATTRIBUTES = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
_REDEPLOY = "`cdk deploy`: the stack lacks the queue"


def keeps_dead_letters(logical_id: str) -> bool:
    """Whether a queue of the stack, by its id in the template, is read by people only."""
    return "DeadLetters" in logical_id or logical_id.startswith("MissedSweeps")


def no_dead_letters(queue: str, answer: Answer) -> Finding:
    """Whether nothing was given up."""
    about = f"dead letters {queue}"

    def by(found: Found) -> Finding:
        count = _count(found, "ApproximateNumberOfMessages")
        if not count:
            return ok(about, "none")
        remedy = (
            "read one (receive-message) and the log of the function that gave it up; mend that, "
            "then redrive them (start-message-move-task)"
        )
        return wrong(about, counted(count, "message"), remedy)

    return judge(about, answer, missing=_REDEPLOY, by=by)


def flowing(queue: str, answer: Answer) -> Finding:
    """Whether nothing waits; what waits for a moment only time can tell from what is stuck."""
    about = f"queue {queue}"

    def by(found: Found) -> Finding:
        waiting = _count(found, "ApproximateNumberOfMessages")
        taken = _count(found, "ApproximateNumberOfMessagesNotVisible")
        seen = f"{waiting} waiting, {taken} being handled"
        if not waiting:
            return ok(about, seen)
        remedy = "look again in a minute: it must fall; else see the log of what reads the queue"
        return unknown(about, seen, remedy)

    return judge(about, answer, missing=_REDEPLOY, by=by)


def _count(found: Found, name: str) -> int:
    return int(found.get("Attributes", {}).get(name, 0))
