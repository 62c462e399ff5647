"""The pods of a RayJob: head, workers, and the submitter that follows the driver's log."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from contracts import layout
from contracts.hardware import HardwareProfile
from contracts.job import JobSpec
from lambdas.adapters.kuberay import grace
from lambdas.adapters.kuberay.labels import pod_labels
from lambdas.settings import Settings

HEAD, WORKER, SUBMITTER = "head", "worker", "submitter"
USER = 1000
"""The image's user and group, which the folder on the shared file system is writable by."""
_HEALTHY_NODE = {"sagemaker.amazonaws.com/node-health-status": "Schedulable"}
_UNDISTURBED = {"karpenter.sh/do-not-disrupt": "true"}
"""A job ends with its head, and its work is one task of one worker: neither is moved."""
_CONTAINERS = {HEAD: "ray-head", WORKER: "ray-worker", SUBMITTER: "ray-job-submitter"}
_GPU = "nvidia.com/gpu"
_SUBMITTER_SIZE = {"cpu": "250m", "memory": "1Gi"}


def container_of(role: str) -> str:
    """The name of the container that does a pod's work."""
    return _CONTAINERS[role]


def head(spec: JobSpec, settings: Settings) -> dict[str, Any]:
    """The template of the head's pod."""
    profile = settings.hardware_profiles.head
    return _ray_pod(spec, settings, profile, HEAD, lifecycle=grace.before_head_stops())


def worker(spec: JobSpec, settings: Settings, profile: HardwareProfile) -> dict[str, Any]:
    """The template of a worker's pod."""
    mark = PurePosixPath(spec.workspace) / spec.key.folder / layout.STOP_REQUESTED
    lifecycle = grace.before_worker_stops(spec.key.job_name, str(mark))
    return _ray_pod(spec, settings, profile, WORKER, lifecycle=lifecycle)


def submitter(spec: JobSpec, settings: Settings) -> dict[str, Any]:
    """The template of the pod that hands the job to Ray and prints the driver's log."""
    profile = settings.hardware_profiles.head
    container = _container(settings, container_of(SUBMITTER), _SUBMITTER_SIZE)
    pod = _pod(settings, profile, [container])
    return _template(spec, SUBMITTER, {**pod, "restartPolicy": "Never"})


def _ray_pod(
    spec: JobSpec,
    settings: Settings,
    profile: HardwareProfile,
    role: str,
    *,
    lifecycle: dict[str, Any],
) -> dict[str, Any]:
    container = _container(settings, container_of(role), _size(profile)) | {
        "lifecycle": lifecycle,
        "env": [
            {"name": "AWS_REGION", "value": settings.aws_region},
            {"name": "PYTHONUNBUFFERED", "value": "1"},
            grace.RAY_STOP_WAIT,
        ],
        "volumeMounts": [
            {"name": "workspace", "mountPath": settings.workspace_root},
            {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - Ray's own place
        ],
    }
    pod = _pod(settings, profile, [container]) | {
        "serviceAccountName": settings.job_service_account,
        "terminationGracePeriodSeconds": grace.TERMINATION_GRACE_S,
        "volumes": [
            {"name": "workspace", "persistentVolumeClaim": {"claimName": settings.fsx_claim}},
            {
                "name": "shared-memory",
                "emptyDir": {"medium": "Memory", "sizeLimit": profile.memory},
            },
        ],
    }
    return _template(spec, role, pod)


def _template(spec: JobSpec, role: str, pod: dict[str, Any]) -> dict[str, Any]:
    metadata = {"labels": pod_labels(spec, role), "annotations": dict(_UNDISTURBED)}
    return {"metadata": metadata, "spec": pod}


def _pod(
    settings: Settings, profile: HardwareProfile, containers: list[dict[str, Any]]
) -> dict[str, Any]:
    tolerations = [it.model_dump(exclude_none=True) for it in profile.tolerations]
    return {
        "containers": containers,
        "nodeSelector": {**profile.labels, **_HEALTHY_NODE},
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **({"tolerations": tolerations} if tolerations else {}),
    }


def _container(settings: Settings, name: str, size: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "image": settings.job_image,
        "resources": {"requests": dict(size), "limits": dict(size)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _size(profile: HardwareProfile) -> dict[str, str]:
    size = {"cpu": str(profile.cpu), "memory": profile.memory}
    return size | ({_GPU: str(profile.gpu)} if profile.gpu else {})
