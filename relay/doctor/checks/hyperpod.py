"""The HyperPod cluster behind the EKS cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown, wrong


def eks_of(answer: Found) -> str:
    """ARN of the EKS cluster that a HyperPod cluster belongs to."""
    return str(answer.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", ""))


def in_service(answer: Answer) -> Finding:
    """Whether the cluster has its machines."""
    about = "HyperPod cluster"

    def by(found: Found) -> Finding:
        status, groups = found.get("ClusterStatus", ""), found.get("InstanceGroups", [])
        there = ", ".join(_words(one) for one in groups) or "no instance group"
        seen = f"{found.get('ClusterName', '')} {status}: {there}"
        if status != "InService":
            if status in {"Creating", "Updating", "SystemUpdating"}:
                return unknown(about, seen, "wait until it is in service, and look again")
            return wrong(about, seen, "see the cluster's events in the SageMaker console")
        if any(one.get("CurrentCount", 0) < one.get("TargetCount", 0) for one in groups):
            remedy = "machines are still missing: see the cluster's events, and its quotas"
            return unknown(about, seen, remedy)
        return ok(about, seen)

    missing = (
        "no HyperPod cluster runs on this EKS cluster, so no node is labelled healthy and pods "
        "wait for ever: name the right EKS cluster, or create the HyperPod cluster on it"
    )
    return judge(about, answer, missing=missing, by=by)


def wanted(answer: Found) -> dict[str, int]:
    """How many instances of each type the groups are set to."""
    counts: dict[str, int] = {}
    for group in answer.get("InstanceGroups", []):
        kind = str(group.get("InstanceType", ""))
        counts[kind] = counts.get(kind, 0) + int(group.get("TargetCount", 0))
    return {kind: count for kind, count in counts.items() if kind and count}


def _words(group: Mapping[str, Any]) -> str:
    count = f"{group.get('CurrentCount', 0)} of {group.get('TargetCount', 0)}"
    return f"{count} {group.get('InstanceType', '')} ({group.get('InstanceGroupName', '')})"
