"""The RayJob of an attempt: pure, from the job's spec and the deployment's settings.

Submission mode is K8sJobMode: a pod of our own template hands the job to Ray and prints the
driver's log. That log outlives the cluster, the pod passes a restricted namespace (a sidecar's
template cannot be given), and a lost head ends the job, where HTTPMode would submit it anew to the
next head: retries belong to the state machine.
"""

from __future__ import annotations

import json
import math
import shlex
from datetime import datetime
from typing import Any

from contracts import layout
from contracts.hardware import WorkerGroup
from contracts.job import JobSpec
from contracts.model import digest
from lambdas.adapters.kuberay import pods
from lambdas.adapters.kuberay.groups import worker_groups
from lambdas.adapters.kuberay.labels import (
    DIGEST,
    KUEUE_PRIORITY,
    KUEUE_QUEUE,
    attempt_labels,
)
from lambdas.settings import Settings

API_VERSION = "ray.io/v1"
DEADLINE_GRACE_S = 60
"""The job ends itself at its deadline, with its last words; the cluster does it this much later."""
TTL_S = 180
"""The cluster outlives its job by three turns of the sweep."""


def rayjob(spec: JobSpec, settings: Settings, now: datetime) -> dict[str, Any]:
    """The object to be created.

    Raises:
        PipelineInvalid: the deployment has no hardware that fits the pipeline.
    """
    living = bool(settings.ray_cluster)
    return {
        "apiVersion": API_VERSION,
        "kind": "RayJob",
        "metadata": {
            "name": spec.key.job_name,
            "namespace": settings.cluster_namespace,
            # Kueue takes no job of a living cluster.
            "labels": attempt_labels(spec) | ({} if living else _queue_labels(settings)),
            "annotations": {DIGEST: spec_digest(spec)},
        },
        "spec": {
            "entrypoint": f"exec python -m training --job {shlex.quote(_job_uri(spec))}",
            "jobId": spec.key.job_name,
            "submissionMode": "K8sJobMode",
            "submitterPodTemplate": pods.submitter(spec, settings),
            "submitterConfig": {"backoffLimit": 0},
            "backoffLimit": 0,
            "activeDeadlineSeconds": _seconds_left(spec, now),
            **(_on_a_living_cluster(settings) if living else _on_its_own(spec, settings)),
        },
    }


def spec_digest(spec: JobSpec) -> str:
    """What tells two jobs of the same name apart: the sha256 of `job.json`."""
    return digest(spec.to_bytes())


def _job_uri(spec: JobSpec) -> str:
    return layout.s3_uri(spec.bucket, layout.job(spec.key))


def _seconds_left(spec: JobSpec, now: datetime) -> int:
    return max(1, math.ceil((spec.deadline - now).total_seconds())) + DEADLINE_GRACE_S


def _queue_labels(settings: Settings) -> dict[str, str]:
    named = {KUEUE_QUEUE: settings.job_queue_name, KUEUE_PRIORITY: settings.job_priority_class}
    return {label: name for label, name in named.items() if name}


def _on_a_living_cluster(settings: Settings) -> dict[str, Any]:
    """A selector forbids shutdown, its ttl and suspension: the cluster is not the job's."""
    return {"clusterSelector": {"ray.io/cluster": settings.ray_cluster}}


def _on_its_own(spec: JobSpec, settings: Settings) -> dict[str, Any]:
    learners = spec.hardware.learners if spec.phase == "optimize" else 1
    return {
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": TTL_S,
        "rayClusterSpec": {
            "rayVersion": settings.ray_version,
            "headGroupSpec": {
                # No work on the head: it is what the job must not lose.
                "rayStartParams": {"dashboard-host": "0.0.0.0", "num-cpus": "0"},  # noqa: S104
                "template": pods.head(spec, settings),
            },
            "workerGroupSpecs": [
                {
                    "groupName": group.profile,
                    "replicas": group.count,
                    "minReplicas": group.count,
                    "maxReplicas": group.count,
                    "rayStartParams": _offers(group),
                    "template": pods.worker(spec, settings, profile),
                }
                for group, profile in worker_groups(spec.hardware, settings, pods=learners)
            ],
        },
    }


def _offers(group: WorkerGroup) -> dict[str, str]:
    """Custom resources, quoted for the shell that KubeRay puts them into."""
    if not group.resources:
        return {}
    return {"resources": json.dumps(json.dumps(group.resources, sort_keys=True))}
