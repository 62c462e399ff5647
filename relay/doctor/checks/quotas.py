"""Quotas: whether an account may do as much as the stack is set up for."""

from __future__ import annotations

from collections.abc import Mapping

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown, wrong

_OTHERS = 3
"""Calls of submit, decide and sweep beside those that queues make."""
_NO_SUCH = "compare it with Service Quotas in the console"


def concurrency(answer: Answer, queues: int) -> Finding:
    """Whether functions may run as often at a time as queues call them.

    Args:
        answer: Lambda's account settings.
        queues: the most calls at a time that all queues together make.
    """
    about = "quota of functions at a time"
    needed = queues + _OTHERS

    def by(found: Found) -> Finding:
        limit = found.get("AccountLimit", {})
        free = limit.get("UnreservedConcurrentExecutions", limit.get("ConcurrentExecutions", 0))
        seen = f"{free} for all of the account, {needed} for Relay at most"
        if free < needed:
            remedy = (
                "raise Lambda's quota `Concurrent executions` (L-B99A9384), or deploy with a "
                "smaller max_concurrency"
            )
            return wrong(about, seen, remedy)
        return ok(about, seen)

    return judge(about, answer, missing=_NO_SUCH, by=by)


def open_executions(answer: Answer) -> Finding:
    """Whether Step Functions takes as many runs as there may be; one a pipeline."""
    about = "quota of open executions"

    def by(found: Found) -> Finding:
        value = _value(found, "open", "execution")
        if value is None:
            return unknown(about, "Service Quotas lists no such quota", _NO_SUCH)
        return ok(about, f"{value:.0f}: as many pipelines may have a run at a time")

    return judge(about, answer, missing=_NO_SUCH, by=by)


def instances(answer: Answer, wanted: Mapping[str, int]) -> list[Finding]:
    """Whether a HyperPod cluster may have the instances that its groups are set to.

    Args:
        answer: SageMaker's quotas.
        wanted: how many of each instance type.
    """
    return [_instance(answer, kind, count) for kind, count in sorted(wanted.items())]


def _instance(answer: Answer, kind: str, count: int) -> Finding:
    about = f"quota of {kind}"

    def by(found: Found) -> Finding:
        value = _value(found, f"{kind} for cluster usage")
        if value is None:
            return unknown(about, f"no quota `{kind} for cluster usage` is listed", _NO_SUCH)
        seen = f"{value:.0f} for clusters, {count} wanted"
        if value < count:
            return wrong(about, seen, f"raise SageMaker's quota `{kind} for cluster usage`")
        return ok(about, seen)

    return judge(about, answer, missing=_NO_SUCH, by=by)


def _value(found: Found, *words: str) -> float | None:
    for quota in found.get("Quotas", []):
        if all(word in str(quota.get("QuotaName", "")).lower() for word in words):
            return float(quota["Value"])
    return None
