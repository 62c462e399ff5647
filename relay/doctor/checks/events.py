"""What rings: the bucket's notifications, and the rules."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.layout import INCOMING, PROGRESS, RESULT, RUNS
from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, wrong

_REDEPLOY = "`cdk deploy` sets it again: it was changed by hand"


def rule(logical_id: str, answer: Answer, targets: Answer) -> Finding:
    """Whether a rule is enabled and has a target."""
    about = f"rule {logical_id}"

    def by(found: Found) -> Finding:
        state = found.get("State", "")
        when = found.get("ScheduleExpression") or "by events"
        if state != "ENABLED":
            return wrong(about, f"{state}, {when}", "enable it (events enable-rule)")
        return judge(about, targets, missing=_REDEPLOY, by=aimed)

    def aimed(found: Found) -> Finding:
        when = "ENABLED"
        count = len(found.get("Targets", []))
        if not count:
            return wrong(about, f"{when}, but it has no target", _REDEPLOY)
        return ok(about, f"{when}, {count} target" + "s" * (count > 1))

    return judge(about, answer, missing="`cdk deploy`: the stack lacks the rule", by=by)


def notification(answer: Answer, *, uploads: str, reports: str) -> Finding:
    """Whether uploads and reports ring their queues.

    Args:
        answer: the bucket's notification configuration.
        uploads: URL of the queue of uploads.
        reports: URL of the queue of reports.
    """
    about = "bucket notification"
    wanted = {
        (INCOMING, ""): _name(uploads),
        (RUNS, f"/{PROGRESS}"): _name(reports),
        (RUNS, f"/{RESULT}"): _name(reports),
    }

    def by(found: Found) -> Finding:
        there = dict(_bell(one) for one in found.get("QueueConfigurations", []))
        lacking = [f"{a}*{b}" for (a, b), queue in wanted.items() if there.get((a, b)) != queue]
        if lacking:
            return wrong(about, f"nothing rings for {', '.join(lacking)}", _REDEPLOY)
        return ok(about, f"{len(wanted)} bells: uploads, progress, results")

    return judge(about, answer, missing="`cdk deploy`: the bucket is gone", by=by)


def _bell(configuration: Mapping[str, object]) -> tuple[tuple[str, str], str]:
    rules = _rules(configuration)
    queue = str(configuration.get("QueueArn", "")).rpartition(":")[2]
    return (rules.get("prefix", ""), rules.get("suffix", "")), queue


def _rules(configuration: Mapping[str, object]) -> dict[str, str]:
    wanted: object = configuration
    for key in ("Filter", "Key", "FilterRules"):
        wanted = wanted.get(key, {}) if isinstance(wanted, Mapping) else {}
    listed = wanted if isinstance(wanted, list) else []
    return {str(one["Name"]).lower(): str(one["Value"]) for one in listed}


def _name(url: str) -> str:
    return url.rpartition("/")[2]
