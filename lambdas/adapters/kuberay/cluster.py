"""What of a cluster's API the runner uses, within one namespace."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from contracts.errors import JobInvalid, ServiceUnavailable
from lambdas.adapters.kuberay.api import KubeApi
from lambdas.adapters.kuberay.labels import BUCKET, JOB, KUEUE_JOB_UID

Object = dict[str, Any]

PAGE = 200
PAGES_MAX = 10
_FEW = 100
_KUEUE_VERSIONS = ("v1beta1", "v1beta2")
LOG_LINES = 40
LOG_BYTES = 16 * 1024
_ONLY_METADATA = (
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
)


class Cluster:
    """RayJobs of a namespace, and what Kubernetes knows of their pods."""

    def __init__(self, api: KubeApi, namespace: str) -> None:
        self._api = api
        self._core = f"/api/v1/namespaces/{namespace}"
        self._rayjobs = f"/apis/ray.io/v1/namespaces/{namespace}/rayjobs"
        self._kueue = [f"/apis/kueue.x-k8s.io/{v}/namespaces/{namespace}" for v in _KUEUE_VERSIONS]

    def create(self, rayjob: Object) -> bool:
        """Make a RayJob; False when its name is taken.

        Raises:
            ServiceUnavailable: the API is in trouble; here and in all that follows.
            ClusterRefused: the role may not; here and in all that follows.
            JobInvalid: the API does not take the object.
        """
        answer = self._api.call("POST", self._rayjobs, body=rayjob)
        if answer.status == HTTPStatus.NOT_FOUND:
            raise ServiceUnavailable(
                "the cluster knows no RayJob or no such namespace: is KubeRay installed?"
            )
        return answer.status != HTTPStatus.CONFLICT

    def get(self, name: str) -> Object | None:
        """A RayJob; None when there is none."""
        answer = self._api.call("GET", f"{self._rayjobs}/{quote(name)}")
        return None if answer.status == HTTPStatus.NOT_FOUND else answer.json()

    def delete(self, name: str) -> None:
        """Delete a RayJob, which is there until all its pods are gone."""
        self._api.call(
            "DELETE", f"{self._rayjobs}/{quote(name)}", body={"propagationPolicy": "Foreground"}
        )

    def labels_of(self, bucket: str) -> Iterator[dict[str, str]]:
        """The labels of every RayJob of a bucket's stack, by their names' order."""
        query: dict[str, str | int] = {"labelSelector": f"{BUCKET}={bucket}", "limit": PAGE}
        for _ in range(PAGES_MAX):
            page = self._api.call("GET", self._rayjobs, query=query, accept=_ONLY_METADATA).json()
            for item in page.get("items", []):
                yield item["metadata"].get("labels", {})
            following = page.get("metadata", {}).get("continue")
            if not following:
                return
            query["continue"] = following

    def pods(self, job: str) -> list[Object]:
        """The pods of a job."""
        return self._listed(f"{self._core}/pods", {"labelSelector": f"{JOB}={job}"})

    def events(self, name: str) -> list[Object]:
        """What was said of an object lately."""
        return self._listed(
            f"{self._core}/events", {"fieldSelector": f"involvedObject.name={name}"}
        )

    def workloads(self, uid: str) -> list[Object]:
        """What Kueue made of a RayJob; empty, too, where there is no Kueue."""
        selector = {"labelSelector": f"{KUEUE_JOB_UID}={uid}"}
        for version in self._kueue:
            found = self._listed(f"{version}/workloads", selector)
            if found:
                return found
        return []

    def log(self, pod: str, container: str) -> str:
        """The end of a container's log; empty while it has not started, or its node is away."""
        try:
            answer = self._api.call(
                "GET",
                f"{self._core}/pods/{quote(pod)}/log",
                query={"container": container, "tailLines": LOG_LINES, "limitBytes": LOG_BYTES},
                accept="text/plain, application/json",
                once=True,
            )
        except (JobInvalid, ServiceUnavailable):
            return ""
        found = answer.status == HTTPStatus.OK
        return answer.body.decode("utf-8", "replace") if found else ""

    def _listed(self, path: str, query: dict[str, str]) -> list[Object]:
        answer = self._api.call("GET", path, query={**query, "limit": _FEW})
        if answer.status == HTTPStatus.NOT_FOUND:
            return []
        items: list[Object] = answer.json().get("items", [])
        return items
