"""The jobs' namespace, what of Kueue is in it, and the nodes that its pods need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.checks.operator import has_condition
from relay.doctor.finding import Finding, ok, unknown, wrong

HEALTHY = "sagemaker.amazonaws.com/node-health-status=Schedulable"


def namespace(name: str, answer: Answer) -> Finding:
    """Whether the namespace is there."""
    about = f"namespace {name}"

    def by(found: Found) -> Finding:
        phase = found.get("status", {}).get("phase", "Active")
        if phase != "Active":
            return wrong(about, phase, "wait until it is gone, then make it again")
        return ok(about, phase)

    return judge(about, answer, missing=f"kubectl create namespace {name}", by=by)


def service_account(name: str, answer: Answer) -> Finding:
    """Whether the jobs' service account is there."""
    about = f"service account {name}"
    missing = "kubectl apply -f cdk.out/STACKCluster.access.json, which `make synth` writes"
    return judge(about, answer, missing=missing, by=lambda _: ok(about, "there"))


def queue(name: str, answer: Answer) -> Finding:
    """Whether Kueue's local queue admits jobs."""
    about = f"Kueue queue {name}"

    def by(found: Found) -> Finding:
        target = found.get("spec", {}).get("clusterQueue", "?")
        pending = found.get("status", {}).get("pendingWorkloads", 0)
        policy = found.get("spec", {}).get("stopPolicy", "None")
        seen = f"of {target}, {pending} waiting"
        if policy not in {"None", ""}:
            return wrong(about, f"{seen}, stopped ({policy})", "set its stopPolicy to None")
        if not has_condition(found, "Active"):
            return wrong(about, f"{seen}, not active", f"kubectl describe clusterqueue {target}")
        return ok(about, seen)

    missing = (
        "give the team a compute quota (task governance makes the queue), or deploy with the name "
        "of one that is there in `-c kueue_queue=…`"
    )
    return judge(about, answer, missing=missing, by=by)


def priority(name: str, answer: Answer) -> Finding:
    """Whether Kueue's priority class is there."""
    about = f"priority class {name}"
    missing = (
        "make it in the cluster's scheduler configuration, or deploy with one that is there: "
        "kubectl get workloadpriorityclasses"
    )
    return judge(
        about, answer, missing=missing, by=lambda it: ok(about, f"value {it.get('value')}")
    )


def living_cluster(name: str, answer: Answer) -> Finding:
    """Whether the RayCluster that all jobs run on is ready."""
    about = f"RayCluster {name}"

    def by(found: Found) -> Finding:
        state = found.get("status", {}).get("state", "of no state")
        if state != "ready":
            return wrong(about, state, f"kubectl describe raycluster {name}")
        return ok(about, state)

    missing = "make it, or deploy without `ray_cluster`: each job then has its own"
    return judge(about, answer, missing=missing, by=by)


def nodes(profile: str, needs: Mapping[str, int], answer: Answer) -> Finding:
    """Whether a pod of a profile has a node.

    Args:
        profile: its name.
        needs: CPUs and GPUs of the pod, as `cpu` and `nvidia.com/gpu`.
        answer: healthy nodes with the profile's labels.
    """
    about = f"nodes for {profile}"

    def by(found: Found) -> Finding:
        items = found.get("items", [])
        roomy = [one for one in items if _has_room(one, needs)]
        seen = f"{len(items)} healthy, {len(roomy)} large enough"
        if roomy:
            return ok(about, seen)
        if items:
            remedy = "lower the profile in hardware_profiles: allocatable is less than nominal"
            return wrong(about, seen, remedy)
        remedy = (
            "none, unless an autoscaler adds one: see the profile's labels, and "
            f"kubectl get nodes -l {HEALTHY}"
        )
        return unknown(about, seen, remedy)

    return judge(about, answer, missing="this is no API of Kubernetes", by=by)


def _has_room(node: Mapping[str, Any], needs: Mapping[str, int]) -> bool:
    there = node.get("status", {}).get("allocatable", {})
    return all(_amount(str(there.get(name, "0"))) >= count for name, count in needs.items())


def _amount(quantity: str) -> float:
    """CPUs or devices; Kubernetes may give thousandths."""
    return float(quantity[:-1]) / 1000 if quantity.endswith("m") else float(quantity)
