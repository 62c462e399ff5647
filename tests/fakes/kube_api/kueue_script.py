"""Kueue, played: RayJobs with a queue wait suspended until there is room for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from fakes.kube_api.clock import read_stamp, stamp
from fakes.kube_api.cluster_events import tell
from fakes.kube_api.kuberay_script import OVER
from fakes.kube_api.pods import owner
from fakes.kube_api.refusals import Cause, Refused, invalid
from fakes.kube_api.store import Object, Store

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
GROUPS_MAX = 17
NO_ROOM = (
    "couldn't assign flavors to pod set head: insufficient unused quota for "
    "nvidia.com/gpu in flavor gpu, 4 more needed"
)


class Kueue:
    """The queue.

    Attributes:
        waits_s: how long a RayJob waits for quota; not at all by default.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waits_s: Callable[[Object], float] = lambda _job: 0
        store.admission.append(self._admit)

    def step(self) -> None:
        """Make workloads for new RayJobs, admit those whose time has come, finish the ended."""
        jobs, _ = self._store.list(self._store.kinds.of("rayjobs"))
        for job in jobs:
            if QUEUE in job["metadata"].get("labels", {}):
                try:
                    self._see_to(job)
                except Refused as refused:
                    if refused.code not in (404, 409):
                        raise

    def preempt(self, job: Object) -> None:
        """Take a RayJob's room away for another's sake; it waits again."""
        workload = self._workload(job)
        assert workload is not None
        told = "Preempted to accommodate a workload of higher priority"
        self._say(workload, "Evicted", "True", "Preempted", told)
        self._say(workload, "Admitted", "False", "NoReservation", "The workload has no reservation")
        self._say(workload, "QuotaReserved", "False", "Pending", told)
        self._suspend(job, True)
        tell(self._store, job, "Stopped", told, by="ray.io/rayjob-kueue-controller")

    def _admit(self, made: Object, old: Object | None) -> None:
        """Kueue's webhook: what is queued begins suspended, and must be fit for it."""
        if made["kind"] != "RayJob" or QUEUE not in made["metadata"].get("labels", {}):
            return
        spec = made.get("spec", {})
        wrong: list[Cause] = []
        if "clusterSelector" in spec:
            return
        if not spec.get("shutdownAfterJobFinishes"):
            wrong.append(
                Cause(
                    "FieldValueInvalid",
                    "a kueue managed job should delete the cluster after finishing",
                    "spec.shutdownAfterJobFinishes",
                )
            )
        cluster = spec.get("rayClusterSpec", {})
        if len(cluster.get("workerGroupSpecs", [])) > GROUPS_MAX:
            wrong.append(
                Cause(
                    "FieldValueTooMany",
                    f"Too many: must have at most {GROUPS_MAX} items",
                    "spec.rayClusterSpec.workerGroupSpecs",
                )
            )
        if cluster.get("enableInTreeAutoscaling"):
            wrong.append(
                Cause(
                    "FieldValueInvalid",
                    "a kueue managed job should not use autoscaling",
                    "spec.rayClusterSpec.enableInTreeAutoscaling",
                )
            )
        if wrong:
            raise invalid("ray.io", "RayJob", made["metadata"].get("name", ""), wrong)
        if old is None:
            spec["suspend"] = True

    def _see_to(self, job: Object) -> None:
        if "clusterSelector" in job["spec"] or "deletionTimestamp" in job["metadata"]:
            return
        workload = self._workload(job) or self._make_workload(job)
        if job.get("status", {}).get("jobDeploymentStatus", "") in OVER:
            self._say(workload, "Finished", "True", "Succeeded", "Job finished")
            return
        if not job["spec"].get("suspend"):
            return
        if self._missing_queue(job, workload):
            return
        since = read_stamp(job["metadata"]["creationTimestamp"])
        if (self._store.clock.now() - since).total_seconds() < self.waits_s(job):
            self._say(workload, "QuotaReserved", "False", "Pending", NO_ROOM)
            return
        queue = job["metadata"]["labels"][QUEUE]
        self._say(workload, "QuotaReserved", "True", "QuotaReserved", "Quota reserved")
        self._say(workload, "Admitted", "True", "Admitted", "The workload is admitted")
        self._suspend(job, False)
        tell(self._store, workload, "Admitted", f"Admitted by {queue}", by="kueue-admission")

    def _missing_queue(self, job: Object, workload: Object) -> bool:
        metadata = job["metadata"]
        queue = metadata["labels"][QUEUE]
        if self._store.find("localqueues", queue, metadata["namespace"]) is not None:
            return False
        self._say(
            workload,
            "QuotaReserved",
            "False",
            "Inadmissible",
            f"LocalQueue {queue} doesn't exist",
        )
        return True

    def _suspend(self, job: Object, wanted: bool) -> None:
        self._store.change("rayjobs", job, spec={**job["spec"], "suspend": wanted})

    def _workload(self, job: Object) -> Object | None:
        metadata = job["metadata"]
        return self._store.find("workloads", workload_name(job), metadata["namespace"])

    def _make_workload(self, job: Object) -> Object:
        metadata, spec = job["metadata"], job["spec"]["rayClusterSpec"]
        sets = [_pod_set("head", 1, spec["headGroupSpec"])]
        for group in spec.get("workerGroupSpecs", []):
            sets.append(_pod_set(group["groupName"], group.get("replicas", 0), group))
        made = {
            "apiVersion": self._store.kinds.of("workloads").api_version(),
            "kind": "Workload",
            "metadata": {
                "name": workload_name(job),
                "labels": {"kueue.x-k8s.io/job-uid": metadata["uid"]},
                "ownerReferences": [owner(job)],
            },
            "spec": {"queueName": metadata["labels"][QUEUE], "podSets": sets},
        }
        kind = self._store.kinds.of("workloads")
        made = self._store.create(kind, made, metadata["namespace"])
        tell(
            self._store,
            job,
            "CreatedWorkload",
            f"Created Workload: {metadata['namespace']}/{made['metadata']['name']}",
            by="ray.io/rayjob-kueue-controller",
        )
        return made

    def _say(self, workload: Object, about: str, status: str, reason: str, message: str) -> None:
        metadata = workload["metadata"]
        kind = self._store.kinds.of("workloads")
        now = self._store.get(kind, metadata["name"], metadata["namespace"])
        conditions: list[dict[str, Any]] = now.get("status", {}).get("conditions", [])
        before = next((it for it in conditions if it["type"] == about), None)
        told = {"type": about, "status": status, "reason": reason, "message": message}
        if before is not None and told.items() <= before.items():
            return
        told |= {"lastTransitionTime": stamp(self._store.clock.now()), "observedGeneration": 1}
        rest = [it for it in conditions if it["type"] != about]
        status_ = {**now.get("status", {}), "conditions": [*rest, told]}
        self._store.change("workloads", now, status=status_)


def workload_name(job: Object) -> str:
    """`rayjob-<name>-<five digits of a hash>`."""
    metadata = job["metadata"]
    digest = hashlib.sha1(f"{metadata['name']}\nRayJob\nray.io\n{metadata['uid']}".encode())
    return f"rayjob-{metadata['name']}-{digest.hexdigest()[:5]}"


def _pod_set(name: str, count: int, group: Object) -> dict[str, Any]:
    template = group["template"]
    return {"name": name, "count": count, "template": {"metadata": {}, "spec": template["spec"]}}
