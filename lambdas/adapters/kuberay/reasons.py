"""Why a job waits or how its pods ended, in an operator's words: pure, from what the API shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lambdas.adapters.kuberay.labels import ROLE
from lambdas.adapters.kuberay.words import plain

Object = dict[str, Any]

_IMAGE = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
    }
)
_NOT_TOLD = frozenset({"ContainerCreating", "PodInitializing"})
_INSUFFICIENT = re.compile(r"Insufficient ([\w/-]+(?:\.[\w/-]+)*)")
_LINE_MAX = 200
_ENDED = frozenset({"Succeeded", "Failed"})


def why_queued(workloads: Sequence[Object]) -> str:
    """What a suspended job waits for, by its Kueue workload."""
    if not workloads:
        return "waiting for quota; Kueue has not taken note of the job: is its queue's name right?"
    conditions = {it["type"]: it for it in _conditions(workloads[-1])}
    evicted = conditions.get("Evicted", {})
    reserved = conditions.get("QuotaReserved", {})
    told = reserved if reserved.get("status") == "False" else evicted
    words = _line(told.get("message", ""))
    if evicted.get("status") == "True":
        how = evicted.get("reason", "")
        return f"waiting for quota again, evicted ({how}): {words}"
    if reserved.get("status") == "True":
        return "waiting to be admitted: its quota is reserved"
    if reserved.get("reason") == "Inadmissible":
        return f"waiting, as its queue cannot take it: {words}"
    return f"waiting for quota: {words}" if words else "waiting for quota"


def why_starting(pods: Sequence[Object], events: Sequence[Object]) -> str:
    """What keeps pods from running; empty when nothing does.

    Args:
        pods: the job's.
        events: on what the pods cannot tell themselves, the oldest first.
    """
    found = [*_images(pods), *_killed(pods), *_unscheduled(pods), *_faults(pods)]
    if found:
        return found[0]
    warned = [it for it in events if it.get("type") == "Warning"]
    if warned:
        return _line(f"{warned[-1].get('reason', '')}: {warned[-1].get('message', '')}")
    if not pods:
        return "no pod has been made yet"
    coming = [_role(pod) for pod in pods if pod.get("status", {}).get("phase") == "Pending"]
    return f"starting: {', '.join(sorted(set(coming)))}" if coming else ""


def silent_pod(pods: Sequence[Object]) -> str | None:
    """The name of a pod that waits and does not say why: its events may."""
    for pod in pods:
        if pod.get("status", {}).get("phase") == "Pending":
            return str(pod["metadata"]["name"])
    return None


def alive(pods: Sequence[Object]) -> bool:
    """Whether any pod may still run."""
    return any(pod.get("status", {}).get("phase") not in _ENDED for pod in pods)


def how_killed(pods: Sequence[Object]) -> str:
    """Which container was killed for memory or evicted; empty when none was."""
    return next(iter(_killed(pods)), "")


def _images(pods: Sequence[Object]) -> Iterator[str]:
    for pod, container in _containers(pods):
        waiting = container.get("state", {}).get("waiting", {})
        if waiting.get("reason") in _IMAGE:
            image = container.get("image", "")
            why = _line(waiting.get("message", "") or waiting["reason"])
            yield f"image {image} can't be pulled for the {_role(pod)}: {why}"


def _killed(pods: Sequence[Object]) -> Iterator[str]:
    for pod, container in _containers(pods):
        for state in (container.get("state", {}), container.get("lastState", {})):
            if state.get("terminated", {}).get("reason") == "OOMKilled":
                yield f"the {_role(pod)} was killed for using more memory than its profile has"
    for pod in pods:
        if pod.get("status", {}).get("reason") in {"Evicted", "Preempting", "NodeLost"}:
            reason, why = pod["status"]["reason"].lower(), pod["status"].get("message", "")
            yield f"the {_role(pod)} was {reason}: {_line(why)}"


def _unscheduled(pods: Sequence[Object]) -> Iterator[str]:
    for pod in pods:
        for condition in _conditions(pod):
            if condition["type"] == "PodScheduled" and condition.get("status") == "False":
                message = condition.get("message", "")
                lacking = sorted(set(_INSUFFICIENT.findall(message)))
                short = f"insufficient {', '.join(lacking)}" if lacking else "no node fits"
                yield f"no node for the {_role(pod)}: {short} ({_line(message)})"


def _faults(pods: Sequence[Object]) -> Iterator[str]:
    for pod, container in _containers(pods):
        waiting = container.get("state", {}).get("waiting", {})
        reason = waiting.get("reason")
        if reason and reason not in _NOT_TOLD:
            yield f"the {_role(pod)} can't start: {reason}: {_line(waiting.get('message', ''))}"


def _containers(pods: Sequence[Object]) -> Iterator[tuple[Object, Object]]:
    for pod in pods:
        status = pod.get("status", {})
        for kind in ("initContainerStatuses", "containerStatuses"):
            for container in status.get(kind) or ():
                yield pod, container


def _conditions(thing: Object) -> list[Object]:
    return list(thing.get("status", {}).get("conditions") or ())


def _role(pod: Object) -> str:
    labels = pod.get("metadata", {}).get("labels", {})
    role, group = labels.get(ROLE, "pod"), labels.get("ray.io/group")
    return f"{role} of group {group}" if role == "worker" and group else role


def _line(text: str) -> str:
    return plain(text)[:_LINE_MAX]
