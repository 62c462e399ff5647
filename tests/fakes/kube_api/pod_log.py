"""Logs of pods, and when there are none."""

from __future__ import annotations

from typing import Any

from fakes.kube_api.calls import Call
from fakes.kube_api.refusals import bad_request

STARTED = ("running", "terminated")


class PodLogs:
    """Lines by pod, its only or named container."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[str]] = {}

    def write(self, pod: dict[str, Any], *lines: str) -> None:
        metadata = pod["metadata"]
        self._lines.setdefault((metadata["uid"], _first(pod)), []).extend(lines)

    def read(self, pod: dict[str, Any], call: Call) -> bytes:
        """Raises: Refused: 400, the container has not started, or is not named."""
        name = pod["metadata"]["name"]
        containers = [it["name"] for it in pod["spec"]["containers"]]
        container = call.query.get("container", "")
        if not container and len(containers) > 1:
            raise bad_request(
                f"a container name must be specified for pod {name}, "
                f"choose one of: [{' '.join(containers)}]"
            )
        container = container or containers[0]
        if container not in containers:
            raise bad_request(f"container {container} is not valid for pod {name}")
        _check_started(pod, container)
        lines = self._lines.get((pod["metadata"]["uid"], container), [])
        if "tailLines" in call.query:
            tail = int(call.query["tailLines"])
            lines = lines[-tail:] if tail else []
        text = "".join(f"{line}\n" for line in lines).encode()
        limit = int(call.query.get("limitBytes", len(text)))
        return text[:limit]


def _check_started(pod: dict[str, Any], container: str) -> None:
    name, status = pod["metadata"]["name"], pod.get("status", {})
    if not pod["spec"].get("nodeName"):
        raise bad_request(f"pod {name} does not have a host assigned")
    for it in status.get("containerStatuses", []):
        if it["name"] == container and "waiting" in it.get("state", {}):
            why = it["state"]["waiting"].get("reason", "ContainerCreating")
            if why in {"ErrImagePull", "ImagePullBackOff"}:
                why = "trying and failing to pull image"
            raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {why}')


def _first(pod: dict[str, Any]) -> str:
    return str(pod["spec"]["containers"][0]["name"])
