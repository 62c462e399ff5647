"""How the cluster's objects say which attempt they are of."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.job import JobSpec
from contracts.names import PHASES, AttemptKey, attempt_key

BUCKET = "relay/bucket"
"""A bucket is of one stack, so its name tells this stack's jobs from another's."""
JOB = "relay/job"
ROLE = "relay/role"
RUN, PIPELINE = "relay/run", "relay/pipeline"
ROUND, PHASE, ATTEMPT = "relay/round", "relay/phase", "relay/attempt"
DIGEST = "relay/spec-digest"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
KUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
KUEUE_JOB_UID = "kueue.x-k8s.io/job-uid"


def attempt_labels(spec: JobSpec) -> dict[str, str]:
    """Labels of a RayJob; all parts are within what Kubernetes takes as a value."""
    return {
        BUCKET: spec.bucket,
        RUN: spec.run,
        PIPELINE: spec.pipeline,
        ROUND: str(spec.round),
        PHASE: spec.phase,
        ATTEMPT: str(spec.attempt),
    }


def pod_labels(spec: JobSpec, role: str) -> dict[str, str]:
    """Labels of a pod of a RayJob."""
    return {**attempt_labels(spec), JOB: spec.key.job_name, ROLE: role}


def key_from(labels: Mapping[str, str]) -> AttemptKey | None:
    """The attempt that labels name; None when they name none."""
    try:
        phase = next(name for name in PHASES if name == labels[PHASE])
        return attempt_key(labels[RUN], int(labels[ROUND]), phase, int(labels[ATTEMPT]))
    except (KeyError, ValueError, StopIteration):
        return None
