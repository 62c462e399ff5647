"""The plainest client of the fake cluster, and a RayJob for it."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fakes.kube_api.cluster import FakeCluster
from fakes.kube_api.signing import KEY, SECRET, sign

CONTAINER = {"name": "head", "image": "ray:1"}
HEAD = {"rayStartParams": {}, "template": {"spec": {"containers": [CONTAINER]}}}
Body = dict[str, Any]


@dataclass
class Client:
    """The plainest client there is."""

    cluster: FakeCluster
    token: str

    def call(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body).encode()
        told = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        address = f"{self.cluster.endpoint}{path}"
        request = urllib.request.Request(address, data, told, method=method)
        trust = ssl.create_default_context(cadata=self.cluster.ca.decode())
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
        )
        try:
            with opener.open(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def at(self, plural: str, name: str = "") -> str:
        kind = self.cluster.store.kinds.of(plural)
        prefix = f"/apis/{kind.api_version()}" if kind.group else "/api/v1"
        path = f"{prefix}/namespaces/{self.cluster.namespace}/{plural}"
        return f"{path}/{name}" if name else path

    def make(self, name: str = "job", **spec: Any) -> tuple[int, dict[str, Any]]:
        return self.call("POST", self.at("rayjobs"), rayjob(name, **spec))


def rayjob(name: str = "job", **spec: Any) -> dict[str, Any]:
    plain = {"entrypoint": "python -m training", "rayClusterSpec": {"headGroupSpec": HEAD}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": name, "labels": {"a": "b"}},
        "spec": {**plain, **spec},
    }


def with_container(**fields: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{**CONTAINER, **fields}]}}
    return {"rayClusterSpec": {"headGroupSpec": {"rayStartParams": {}, "template": template}}}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with FakeCluster(tmp_path) as made:
        made.grant(KEY, secret=SECRET)
        made.furnish()
        yield made


@pytest.fixture
def client(cluster: FakeCluster) -> Client:
    return Client(cluster, sign(cluster.name))
