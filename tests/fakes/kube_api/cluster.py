"""The whole fake cluster: API server, KubeRay and Kueue, with what an account must have beside."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fakes.kube_api.access import ALL, EVERYWHERE, Access, Caller, Rule, rules_of
from fakes.kube_api.api import Api
from fakes.kube_api.clock import Clock, ClusterClock
from fakes.kube_api.kinds import Kinds, all_kinds, definitions
from fakes.kube_api.kubelet_script import Kubelet
from fakes.kube_api.kuberay_script import KubeRay
from fakes.kube_api.kueue_script import Kueue
from fakes.kube_api.server import Server
from fakes.kube_api.store import Object, Store
from fakes.kube_api.tls import make_tls
from fakes.kube_api.token_check import Presigned, TokenCheck
from fakes.kube_api.trees import copied

CRDS = Path(__file__).parents[3].parent / "shared" / "crds"
STEP_S = 0.1


class FakeCluster:
    """A cluster of one namespace, up while the context lasts.

    Args:
        folder: where the server's certificate goes.
        name: the EKS cluster's name, which tokens must be signed for.
        namespace: where jobs go; it is there, and so are what `furnish` puts in it.
        crds: folder of the CRDs.
        clock: the cluster's time; the machine's by default.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "train",
        region: str = "us-east-1",
        namespace: str = "relay",
        crds: Path = CRDS,
        clock: Clock | None = None,
    ) -> None:
        self.name, self.region, self.namespace = name, region, namespace
        self.clock = clock or ClusterClock()
        self.store = Store(all_kinds(crds), self.clock)
        self.access = Access()
        self.identify: Callable[[Presigned], Caller] = lambda it: Caller(it.access_key)
        self.secrets: dict[str, str] = {}
        self.token_now: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.api = Api(self.store, self.access, self._authenticate)
        self._tls = make_tls(folder)
        self.server = Server(self.api, self._tls.context)
        self.kuberay = KubeRay(self.store, self.api.logs)
        self.kueue = Kueue(self.store)
        self.kubelet = Kubelet(self.store)
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.broken: list[BaseException] = []
        self._furnish(crds)

    @property
    def endpoint(self) -> str:
        return self.server.endpoint

    @property
    def ca(self) -> bytes:
        """PEM, as clients need it."""
        return self._tls.ca

    @property
    def described(self) -> dict[str, Any]:
        """The cluster as `eks:DescribeCluster` tells of it."""
        return {
            "name": self.name,
            "arn": f"arn:aws:eks:{self.region}:123456789012:cluster/{self.name}",
            "endpoint": self.endpoint,
            "certificateAuthority": {"data": base64.b64encode(self.ca).decode()},
            "status": "ACTIVE",
            "version": "1.34",
            "accessConfig": {"authenticationMode": "API"},
        }

    def grant(
        self,
        user: str,
        rules: tuple[Rule, ...] = ALL,
        *,
        namespace: str = EVERYWHERE,
        secret: str | None = None,
    ) -> None:
        """Let a user in; with a secret, the signatures of its tokens are checked."""
        self.access.grant(user, rules, namespace)
        if secret is not None:
            self.secrets[user] = secret

    def apply_access(self, manifest: dict[str, Any]) -> None:
        """Take over a List of ServiceAccounts, Roles and RoleBindings, as kubectl would."""
        rules: dict[str, tuple[Rule, ...]] = {}
        for item in manifest["items"]:
            self.add(f"{item['kind'].lower()}s", item)
            if item["kind"] == "Role":
                rules[item["metadata"]["name"]] = rules_of(item)
        for item in manifest["items"]:
            for subject in item.get("subjects", ()):
                namespace = item["metadata"]["namespace"]
                self.access.grant(subject["name"], rules[item["roleRef"]["name"]], namespace)

    def __enter__(self) -> FakeCluster:
        self.server.up()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join(10)
        self.kuberay.close()
        self.server.down()
        if self.broken:
            raise self.broken[0]

    def step(self, times: int = 1) -> None:
        """Let the controllers do what they can."""
        for _ in range(times):
            self.kueue.step()
            self.kuberay.step()
            self.kubelet.step()

    def run(self) -> FakeCluster:
        """Let the controllers work by themselves from now on."""
        self._thread = threading.Thread(target=self._keep_stepping, daemon=True)
        self._thread.start()
        return self

    def add(self, plural: str, item: Object) -> Object:
        """Put an object there, as an administrator would."""
        kind = self.store.kinds.of(plural)
        made = {"apiVersion": kind.api_version(), "kind": kind.kind, **copied(item)}
        made.setdefault("metadata", {})
        return self.store.create(kind, made, self.namespace if kind.namespaced else "")

    def jobs(self) -> list[Object]:
        return self.store.list(self.store.kinds.of("rayjobs"), self.namespace)[0]

    def job(self, name: str) -> Object | None:
        return self.store.find("rayjobs", name, self.namespace)

    def _keep_stepping(self) -> None:
        while not self._closed.wait(STEP_S):
            try:
                self.step()
            except Exception as error:  # shown where the test ends, not lost in a thread
                self.broken.append(error)
                return

    def _authenticate(self, authorization: str) -> Caller:
        check = TokenCheck(self.name, self.region, self.secrets.get, self.token_now)
        return self.identify(check.check(authorization))

    def _furnish(self, crds: Path) -> None:
        self.add("namespaces", {"metadata": {"name": self.namespace}})
        for definition in definitions(crds):
            self.add("customresourcedefinitions", _established(definition))

    def furnish(
        self, *, account: str = "relay-job", claim: str = "fsx", queue: str = "relay-queue"
    ) -> None:
        """What an administrator prepares in the namespace."""
        if account:
            self.add("serviceaccounts", {"metadata": {"name": account}})
        self.add(
            "persistentvolumeclaims",
            {
                "metadata": {"name": claim},
                "spec": {"accessModes": ["ReadWriteMany"], "volumeName": f"{claim}-volume"},
                "status": {"phase": "Bound"},
            },
        )
        if queue:
            self.add(
                "localqueues", {"metadata": {"name": queue}, "spec": {"clusterQueue": "shared"}}
            )


def _established(definition: Object) -> Object:
    stored = next(it["name"] for it in definition["spec"]["versions"] if it["storage"])
    conditions = [{"type": "Established", "status": "True"}]
    return {**definition, "status": {"conditions": conditions, "storedVersions": [stored]}}


def without(kinds: Kinds, plural: str) -> Kinds:
    """The kinds but one: a cluster on which an operator was never installed."""
    return Kinds(replace(kind) for kind in kinds if kind.plural != plural)
