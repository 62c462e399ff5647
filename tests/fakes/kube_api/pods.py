"""Pods as KubeRay makes them and as kubelet and scheduler move them."""

from __future__ import annotations

from typing import Any

from fakes.kube_api.clock import stamp
from fakes.kube_api.cluster_events import tell
from fakes.kube_api.naming import random_suffix
from fakes.kube_api.store import Object, Store
from fakes.kube_api.trees import copied

SUBMITTER = "ray-job-submitter"
NODE = "hyperpod-i-0123456789abcdef0"


def owner(item: Object) -> dict[str, Any]:
    metadata = item["metadata"]
    return {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


class Pods:
    """Pods of one RayCluster (or of its submitter), made in a namespace."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def make_cluster(self, ray_cluster: Object) -> list[Object]:
        """The head's and the workers' pods, not yet scheduled."""
        spec = ray_cluster["spec"]
        made = [self._member(ray_cluster, spec["headGroupSpec"], "head", "headgroup")]
        for group in spec.get("workerGroupSpecs", []):
            for _ in range(group.get("replicas", 0) * group.get("numOfHosts", 1)):
                made.append(self._member(ray_cluster, group, "worker", group["groupName"]))
        return made

    def make_submitter(self, job: Object, image_of: Object) -> Object:
        """The pod that runs `ray job submit`, and whose log is the job's."""
        name = job["metadata"]["name"]
        image = image_of["spec"]["containers"][0]["image"]
        plain = {"restartPolicy": "Never", "containers": [{"name": SUBMITTER, "image": image}]}
        template = copied(job["spec"].get("submitterPodTemplate", {"spec": plain}))
        container = template["spec"]["containers"][0]
        container.setdefault("command", ["/bin/bash", "-ce", "--"])
        container.setdefault("args", [f"ray job submit -- {job['spec'].get('entrypoint', '')}"])
        metadata = template.get("metadata", {})
        labels = {
            **metadata.get("labels", {}),
            "job-name": name,
            "batch.kubernetes.io/job-name": name,
        }
        made_name = f"{name}-{random_suffix()}"
        return self._make(made_name, labels, metadata.get("annotations", {}), template["spec"], job)

    def of_cluster(self, name: str) -> list[Object]:
        """The pods of a RayCluster, the head's first."""
        items, _ = self._store.list(self._store.kinds.of("pods"), self._namespace)
        labels = [(it["metadata"].get("labels", {}), it) for it in items]
        mine = [(told, it) for told, it in labels if told.get("ray.io/cluster") == name]
        return [it for _, it in sorted(mine, key=lambda one: one[0]["ray.io/node-type"])]

    def schedule(self, pod: Object) -> Object:
        """Give the pod a node; its image is pulled."""
        bound = self._store.change("pods", pod, spec={**pod["spec"], "nodeName": NODE})
        tell(self._store, bound, "Scheduled", f"assigned to {NODE}", by="default-scheduler")
        return self._state(
            bound, "Pending", {"waiting": {"reason": "ContainerCreating"}}, scheduled=True
        )

    def cannot_schedule(self, pod: Object, why: str) -> Object:
        tell(self._store, pod, "FailedScheduling", why, warning=True, by="default-scheduler")
        return self._state(pod, "Pending", None, scheduled=False, why=why)

    def cannot_pull(self, pod: Object, reason: str = "ImagePullBackOff") -> Object:
        image = pod["spec"]["containers"][0]["image"]
        why = f'Failed to pull image "{image}": not found'
        tell(self._store, pod, "Failed", why, warning=True, by="kubelet")
        waiting = {"reason": reason, "message": f'Back-off pulling image "{image}": {why}'}
        return self._state(pod, "Pending", {"waiting": waiting}, scheduled=True)

    def run(self, pod: Object) -> Object:
        now = stamp(self._store.clock.now())
        return self._state(pod, "Running", {"running": {"startedAt": now}}, scheduled=True)

    def end(self, pod: Object, exit_code: int, reason: str) -> Object:
        """The pod's container ends: `Completed`, `Error`, `OOMKilled`."""
        now = stamp(self._store.clock.now())
        ended = {"exitCode": exit_code, "reason": reason, "startedAt": now, "finishedAt": now}
        phase = "Failed" if exit_code else "Succeeded"
        return self._state(pod, phase, {"terminated": ended}, scheduled=True)

    def _member(self, ray_cluster: Object, group: Object, role: str, name: str) -> Object:
        cluster = ray_cluster["metadata"]["name"]
        template = copied(group["template"])
        metadata = template.get("metadata", {})
        labels = {
            **metadata.get("labels", {}),
            "ray.io/cluster": cluster,
            "ray.io/node-type": role,
            "ray.io/group": name,
            "ray.io/is-ray-node": "yes",
            "app.kubernetes.io/created-by": "kuberay-operator",
            "app.kubernetes.io/name": "kuberay",
        }
        part = "head" if role == "head" else f"{name}-worker"
        return self._make(
            f"{cluster}-{part}-{random_suffix()}",
            labels,
            metadata.get("annotations", {}),
            template["spec"],
            ray_cluster,
        )

    def _make(
        self,
        name: str,
        labels: dict[str, str],
        annotations: dict[str, str],
        spec: Object,
        owned_by: Object,
    ) -> Object:
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [owner(owned_by)],
            },
            "spec": spec,
            "status": {"phase": "Pending"},
        }
        return self._store.create(self._store.kinds.of("pods"), pod, self._namespace)

    def _state(
        self,
        pod: Object,
        phase: str,
        state: dict[str, Any] | None,
        *,
        scheduled: bool,
        why: str = "",
    ) -> Object:
        condition = {"type": "PodScheduled", "status": "True" if scheduled else "False"}
        if not scheduled:
            condition |= {"reason": "Unschedulable", "message": why}
        ready = phase == "Running"
        status: dict[str, Any] = {
            "phase": phase,
            "conditions": [condition, {"type": "Ready", "status": str(ready)}],
        }
        if state is not None:
            status["containerStatuses"] = [
                {
                    "name": container["name"],
                    "image": container["image"],
                    "imageID": "",
                    "ready": ready,
                    "restartCount": 0,
                    "state": state,
                }
                for container in pod["spec"]["containers"]
            ]
        return self._store.change("pods", pod, status=status)
