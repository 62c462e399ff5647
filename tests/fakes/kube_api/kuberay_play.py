"""What KubeRay does with one RayJob, step by step; stories put the steps in order.

Fields and values of the status as KubeRay v1.7 writes them.
"""

from __future__ import annotations

from typing import Any

from fakes.kube_api.clock import stamp
from fakes.kube_api.cluster_events import tell
from fakes.kube_api.naming import random_suffix
from fakes.kube_api.pod_log import PodLogs
from fakes.kube_api.pods import Pods, owner
from fakes.kube_api.prerequisites import missing_accounts, missing_claims
from fakes.kube_api.refusals import Refused
from fakes.kube_api.store import Object, Store
from fakes.kube_api.trees import copied
from fakes.kube_api.work import Work

FINALIZER = "ray.io/rayjob-finalizer"


class KubeRayPlay:
    """One RayJob as the operator holds it."""

    def __init__(self, store: Store, logs: PodLogs, job: Object, work: Work) -> None:
        self.store = store
        self.logs = logs
        self.work = work
        self.namespace = job["metadata"]["namespace"]
        self.pods = Pods(store, self.namespace)
        self._job = job
        self._submitter: Object | None = None
        self._told = ""

    @property
    def job(self) -> Object:
        """The RayJob as it is now. Raises: Refused: 404, it is gone."""
        return self.store.get(
            self.store.kinds.of("rayjobs"), self._job["metadata"]["name"], self.namespace
        )

    def tell(self, **status: Any) -> None:
        """Change fields of the RayJob's status; None takes one away."""
        job = self.job
        now = {**job.get("status", {}), **status}
        now["observedGeneration"] = job["metadata"]["generation"]
        kept = {name: value for name, value in now.items() if value is not None}
        self.store.change("rayjobs", job, status=kept)

    def hold(self) -> None:
        """Put KubeRay's finalizer on the RayJob."""
        job = self.job
        finalizers = job["metadata"].get("finalizers", [])
        if FINALIZER not in finalizers:
            job["metadata"]["finalizers"] = [*finalizers, FINALIZER]
            self.store.replace(self.store.kinds.of("rayjobs"), job, self.namespace)

    def release(self) -> None:
        """Take the finalizer away: the RayJob may go."""
        job = self.job
        rest = [it for it in job["metadata"].get("finalizers", []) if it != FINALIZER]
        job["metadata"]["finalizers"] = rest
        self.store.replace(self.store.kinds.of("rayjobs"), job, self.namespace)

    def initialise(self) -> None:
        """Names are chosen, the RayCluster is made."""
        job = self.job
        name, spec = job["metadata"]["name"], job["spec"]
        selector = spec.get("clusterSelector", {}).get("ray.io/cluster")
        self.tell(
            jobId=spec.get("jobId") or f"{name}-{random_suffix()}",
            rayClusterName=selector or f"{name}-{random_suffix()}",
            jobDeploymentStatus="Initializing",
            startTime=stamp(self.store.clock.now()),
            jobStatus=None,
        )
        if not selector:
            self._make_cluster()

    def _make_cluster(self) -> None:
        job = self.job
        made = {
            "apiVersion": "ray.io/v1",
            "kind": "RayCluster",
            "metadata": {
                "name": job["status"]["rayClusterName"],
                "labels": {
                    **job["metadata"].get("labels", {}),
                    "ray.io/originated-from-cr-name": job["metadata"]["name"],
                    "ray.io/originated-from-crd": "RayJob",
                },
                "ownerReferences": [owner(job)],
            },
            "spec": copied(job["spec"]["rayClusterSpec"]),
        }
        # Kueue's label belongs to the RayJob, which it admits as a whole.
        made["metadata"]["labels"].pop("kueue.x-k8s.io/queue-name", None)
        made["spec"].pop("suspend", None)
        cluster = self.store.create(self.store.kinds.of("rayclusters"), made, self.namespace)
        name = cluster["metadata"]["name"]
        tell(self.store, job, "CreatedRayCluster", f"Created RayCluster {self.namespace}/{name}")

    def prepared(self) -> bool:
        """Whether the pods are there, and the claims that they mount.

        Pods are made once their service account is there; what lacks is told, as KubeRay and the
        scheduler do, and waited for.
        """
        cluster = self._cluster()
        if cluster is not None and self._owns(cluster) and not self.cluster_pods:
            lacking = missing_accounts(self.store, cluster)
            if lacking:
                self._tell_once(cluster, "FailedToCreateHeadPod", lacking[0])
                return False
            self.pods.make_cluster(cluster)
        lacking = [why for pod in self.cluster_pods for why in missing_claims(self.store, pod)]
        if lacking and self._told != lacking[0]:
            for pod in self.cluster_pods:
                self.pods.cannot_schedule(pod, lacking[0])
        self._told = lacking[0] if lacking else ""
        return not lacking

    def _tell_once(self, about: Object, reason: str, message: str) -> None:
        if self._told != message:
            self._told = message
            tell(self.store, about, reason, message, warning=True)

    @property
    def cluster_pods(self) -> list[Object]:
        return self.pods.of_cluster(self.job["status"]["rayClusterName"])

    @property
    def head(self) -> Object:
        return next(
            it for it in self.cluster_pods if it["metadata"]["labels"]["ray.io/node-type"] == "head"
        )

    def start_pods(self) -> None:
        """Every pod finds its node and runs; the RayCluster is ready."""
        for pod in self.cluster_pods:
            self.pods.run(self.pods.schedule(pod))
        cluster = self._cluster()
        if cluster is not None:
            status = {"state": "ready", "desiredWorkerReplicas": 0, "maxWorkerReplicas": 0}
            self.store.change("rayclusters", cluster, status=status)
        self.tell(rayClusterStatus={"state": "ready"})

    def submit(self) -> None:
        """The submitter hands the entry point to Ray, and the work begins."""
        job = self.job
        if job["spec"].get("submissionMode", "K8sJobMode") == "K8sJobMode":
            self._submitter = self.pods.make_submitter(job, self.head)
            self.pods.run(self.pods.schedule(self._submitter))
        self.tell(
            jobDeploymentStatus="Running",
            jobStatus="RUNNING",
            rayJobInfo={"startTime": stamp(self.store.clock.now())},
            dashboardURL=f"{job['status']['rayClusterName']}-head-svc.{self.namespace}.svc:8265",
        )
        self.work.start(job, self.say)

    def say(self, line: str) -> None:
        """A line in the log of the job: the submitter's, or the head's."""
        try:
            self.logs.write(self._submitter or self.head, line)
        except (Refused, StopIteration):
            return

    def finish(self, outcome: str) -> None:
        """The Ray job has ended; so it says itself."""
        now = stamp(self.store.clock.now())
        status = self.job["status"]
        failed = outcome == "FAILED"
        counter = "failed" if failed else "succeeded"
        info = {**status.get("rayJobInfo", {}), "endTime": now}
        self.tell(jobStatus=outcome, rayJobInfo=info, message=_MESSAGES[outcome])
        self._end_submitter(1 if failed else 0)
        self.tell(
            jobDeploymentStatus="Failed" if failed else "Complete",
            reason="AppFailed" if failed else None,
            endTime=now,
            **{counter: status.get(counter, 0) + 1},
        )

    def give_up(self, reason: str, message: str) -> None:
        """KubeRay ends the RayJob, whatever Ray says of the job."""
        status = self.job.get("status", {})
        self.work.stop()
        self.tell(
            jobDeploymentStatus="Failed",
            reason=reason,
            message=message,
            endTime=stamp(self.store.clock.now()),
            failed=status.get("failed", 0) + 1,
        )
        self.delete_cluster()

    def delete_cluster(self) -> None:
        """The RayCluster goes, and its pods with it; not one that the RayJob only borrows."""
        if (cluster := self._cluster()) is not None and self._owns(cluster):
            metadata = cluster["metadata"]
            self.store.delete(self.store.kinds.of("rayclusters"), metadata["name"], self.namespace)

    def delete_submitter(self) -> None:
        """The submitter's pod goes, as with a suspension or another try."""
        pods, _ = self.store.list(self.store.kinds.of("pods"), self.namespace)
        for pod in pods:
            if pod["metadata"].get("labels", {}).get("job-name") == self._job["metadata"]["name"]:
                name = pod["metadata"]["name"]
                self.store.delete(self.store.kinds.of("pods"), name, self.namespace)
        self._submitter = None

    def _owns(self, cluster: Object) -> bool:
        owners = cluster["metadata"].get("ownerReferences", [])
        return any(it["uid"] == self._job["metadata"]["uid"] for it in owners)

    def _cluster(self) -> Object | None:
        name = self.job.get("status", {}).get("rayClusterName", "")
        return self.store.find("rayclusters", name, self.namespace)

    def _end_submitter(self, exit_code: int) -> None:
        if self._submitter is not None:
            self.pods.end(self._submitter, exit_code, "Error" if exit_code else "Completed")


_MESSAGES = {
    "SUCCEEDED": "Job finished successfully.",
    "STOPPED": "Job was intentionally stopped.",
    "FAILED": "Job entrypoint command failed with exit code 1, last available logs "
    "(truncated to 20,000 chars):\n",
}
