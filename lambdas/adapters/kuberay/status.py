"""What a RayJob's status means: a pure table over KubeRay's fields.

`jobStatus` is Ray's word on the driver, `jobDeploymentStatus` KubeRay's on the whole; neither is
enough alone. The rules are KubeRay's (`rayjob_controller.go` of v1.7) and Kueue's; the test's table
names the source of each.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from lambdas.adapters.kuberay.words import plain
from lambdas.ports import JobState, Look

Meaning = Literal[
    "success", "cancelled", "failed", "invalid", "not final yet", "starting", "queued", "vanished"
]

_LINE_MAX = 300
_NEVER_RETRIED = frozenset({"DeadlineExceeded", "JobStatusCheckTimeoutExceeded"})
_ENDED_BY_DRIVER: dict[str, Meaning] = {"SUCCEEDED": "success", "STOPPED": "cancelled"}
_BY_DEPLOYMENT: dict[str, Meaning] = {
    "ValidationFailed": "invalid",
    "Suspended": "queued",
    "Suspending": "not final yet",
}
"""A job that is `Suspending` still has its pods."""
_NO_DRIVER = frozenset({"", "PENDING"})
_STATES: dict[Meaning, JobState] = {
    "not final yet": "running",
    "starting": "waiting",
    "queued": "queued",
}
_WORDS: dict[Meaning, str] = {
    "success": "Ray says that it succeeded",
    "cancelled": "it was stopped in Ray, not by the pipeline",
    "failed": "it failed",
    "invalid": "KubeRay refuses its form",
    "starting": "starting",
    "queued": "waits in the cluster's queue",
    "vanished": "its RayJob is gone: deleted by hand, or cleared away",
}
_DEADLINES = frozenset({"DeadlineExceeded"})


class Status(NamedTuple):
    """The fields of a RayJob that its meaning is read from.

    Attributes:
        job: `status.jobStatus`; empty when there is none.
        deployment: `status.jobDeploymentStatus`; empty when there is none.
        reason: `status.reason`.
        message: `status.message`.
        failed: `status.failed`, how many of KubeRay's own tries failed.
        backoff_limit: `spec.backoffLimit`.
        suspend: `spec.suspend`.
        deleting: whether a deletion timestamp is set.
    """

    job: str = ""
    deployment: str = ""
    reason: str = ""
    message: str = ""
    failed: int = 0
    backoff_limit: int = 0
    suspend: bool = False
    deleting: bool = False


def status_of(rayjob: dict[str, Any]) -> Status:
    """Read a RayJob's fields."""
    spec, status = rayjob.get("spec", {}), rayjob.get("status", {})
    return Status(
        job=status.get("jobStatus", ""),
        deployment=status.get("jobDeploymentStatus", ""),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        failed=status.get("failed", 0),
        backoff_limit=spec.get("backoffLimit", 0),
        suspend=spec.get("suspend", False),
        deleting="deletionTimestamp" in rayjob.get("metadata", {}),
    )


def meaning(status: Status | None) -> Meaning:
    """What has become of a job; None is a RayJob that was there and is no more."""
    if status is None:
        return "vanished"
    if status.deployment == "Complete":
        return _ENDED_BY_DRIVER.get(status.job, "failed")
    if status.deployment == "Failed":
        return "not final yet" if _is_tried_again(status) else "failed"
    if status.deployment == "Running":
        # Set with the submitter's pod, before there is a driver; and it lags behind its end.
        return "starting" if status.job in _NO_DRIVER else "not final yet"
    if not status.deployment and status.suspend:
        return "queued"
    return _BY_DEPLOYMENT.get(status.deployment, "starting")


def look_of(status: Status | None) -> Look:
    """A job's meaning in the runner's words; one that is being deleted still has its pods."""
    found = meaning(status)
    if status is not None and status.deleting:
        return Look("running", "its RayJob is being deleted")
    return Look(_STATES.get(found, "ended"), _words(found, status), _error(found, status))


def _is_tried_again(status: Status) -> bool:
    return status.failed <= status.backoff_limit > 0 and status.reason not in _NEVER_RETRIED


def _error(found: Meaning, status: Status | None) -> str:
    if found == "invalid":
        return "JobInvalid"
    late = status is not None and status.reason in _DEADLINES
    return "DeadlineExceeded" if found == "failed" and late else "JobCrashed"


def _words(found: Meaning, status: Status | None) -> str:
    if status is None:
        return _WORDS[found]
    if found == "not final yet":
        return _line(f"Ray says {status.job or 'nothing'}, KubeRay {status.deployment}")
    shown = ": ".join(part for part in (status.reason, _first_line(status.message)) if part)
    if found == "starting" and not shown:
        shown = status.deployment or "KubeRay has not looked at it yet"
    return _line(f"{_WORDS[found]} ({shown})" if shown else _WORDS[found])


def _first_line(message: str) -> str:
    """Behind it there may be the end of a log, which is told apart."""
    return message.strip().partition("\n")[0]


def _line(text: str) -> str:
    return plain(text)[:_LINE_MAX]
