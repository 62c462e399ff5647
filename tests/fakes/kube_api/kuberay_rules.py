"""What KubeRay itself finds wrong with a RayJob: it says ValidationFailed and stops there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

NAME_MAX = 47


def problems(job: dict[str, Any]) -> list[str]:
    """All of them, in KubeRay's sense (its `ValidateRayJobSpec` of v1.7)."""
    return [*_name(job), *_lifetime(job["spec"]), *_cluster(job["spec"]), *_retries(job["spec"])]


def _name(job: dict[str, Any]) -> Iterator[str]:
    if len(job["metadata"]["name"]) > NAME_MAX:
        yield f"RayJob name should be no more than {NAME_MAX} characters"


def _lifetime(spec: dict[str, Any]) -> Iterator[str]:
    if spec.get("suspend") and not spec.get("shutdownAfterJobFinishes"):
        yield "a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended"
    if spec.get("ttlSecondsAfterFinished", 0) and not spec.get("shutdownAfterJobFinishes"):
        yield "a RayJob with shutdownAfterJobFinishes set to false cannot have TTL"
    if spec.get("ttlSecondsAfterFinished", 0) < 0:
        yield "ttlSecondsAfterFinished must be non-negative"
    for name in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        if spec.get(name, 1) <= 0:
            yield f"{name} must be a positive integer"
    if "deletionStrategy" in spec and spec.get("shutdownAfterJobFinishes"):
        yield "deletionStrategy and shutdownAfterJobFinishes cannot both be set"


def _cluster(spec: dict[str, Any]) -> Iterator[str]:
    if not spec.get("rayClusterSpec") and not spec.get("clusterSelector"):
        yield "one of RayClusterSpec or ClusterSelector must be set"
    if spec.get("clusterSelector"):
        yield from _selector(spec)
    if not spec.get("entrypoint") and spec.get("submissionMode") != "InteractiveMode":
        yield "entrypoint must be set"
    for group in spec.get("rayClusterSpec", {}).get("workerGroupSpecs", []):
        low, high = group.get("minReplicas", 0), group.get("maxReplicas", 0)
        if not low <= group.get("replicas", 0) <= high:
            yield f"worker group {group['groupName']}: replicas are not within {low}..{high}"


def _selector(spec: dict[str, Any]) -> Iterator[str]:
    if spec.get("suspend"):
        yield "a RayJob with clusterSelector is not allowed to be suspended"
    if spec.get("backoffLimit", 0) > 0:
        yield "BackoffLimit is incompatible with ClusterSelector"
    if "ray.io/cluster" not in spec["clusterSelector"]:
        yield "clusterSelector must have the key ray.io/cluster"


def _retries(spec: dict[str, Any]) -> Iterator[str]:
    if spec.get("backoffLimit", 0) < 0:
        yield "backoffLimit must be a positive integer"
    if spec.get("submissionMode") == "SidecarMode" and (
        "submitterPodTemplate" in spec or "submitterConfig" in spec
    ):
        yield "SidecarMode doesn't support SubmitterPodTemplate or SubmitterConfig"
