"""The kinds of objects that are served: custom ones by their CRDs, and a few of Kubernetes' own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fakes.kube_api.trees import Shared

RAY = "ray.io"
KUEUE = "kueue.x-k8s.io"
CRD_GROUP = "apiextensions.k8s.io"
RBAC = "rbac.authorization.k8s.io"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CUSTOM = (
    "ray.io_rayjobs",
    "ray.io_rayclusters",
    "kueue.x-k8s.io_workloads",
    "kueue.x-k8s.io_localqueues",
    "kueue.x-k8s.io_clusterqueues",
    "kueue.x-k8s.io_workloadpriorityclasses",
)


@dataclass(frozen=True)
class Kind:
    """One kind of object.

    Attributes:
        versions: served versions, the stored one first.
        schemas: OpenAPI schema by version; none for kinds that are taken as they are.
        has_status: whether `status` is written by its own subresource only.
        columns: what `kubectl get` shows beside name and age: name and JSON path.
    """

    group: str
    versions: tuple[str, ...]
    plural: str
    kind: str
    namespaced: bool = True
    has_status: bool = False
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False, hash=False)
    columns: tuple[tuple[str, str], ...] = ()
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def is_custom(self) -> bool:
        return bool(self.schemas) and self.group != ""

    def api_version(self, version: str = "") -> str:
        version = version or self.versions[0]
        return f"{self.group}/{version}" if self.group else version


def standard_kinds() -> tuple[Kind, ...]:
    """Kubernetes' own, as far as anyone here asks for them."""
    pods = Kind(
        "",
        ("v1",),
        "pods",
        "Pod",
        has_status=True,
        columns=(("Status", ".status.phase"), ("Node", ".spec.nodeName")),
        short_names=("po",),
    )
    events = Kind(
        "",
        ("v1",),
        "events",
        "Event",
        columns=(("Type", ".type"), ("Reason", ".reason"), ("Message", ".message")),
        short_names=("ev",),
    )
    claims = Kind(
        "",
        ("v1",),
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        has_status=True,
        columns=(("Status", ".status.phase"),),
        short_names=("pvc",),
    )
    accounts = Kind("", ("v1",), "serviceaccounts", "ServiceAccount", short_names=("sa",))
    namespaces = Kind("", ("v1",), "namespaces", "Namespace", namespaced=False, short_names=("ns",))
    nodes = Kind("", ("v1",), "nodes", "Node", namespaced=False, short_names=("no",))
    definitions = Kind(
        CRD_GROUP,
        ("v1",),
        "customresourcedefinitions",
        "CustomResourceDefinition",
        namespaced=False,
        short_names=("crd",),
    )
    deployments = Kind("apps", ("v1",), "deployments", "Deployment", short_names=("deploy",))
    return (
        *(pods, events, claims, accounts, namespaces, nodes, definitions, deployments),
        Kind("", ("v1",), "persistentvolumes", "PersistentVolume", False, short_names=("pv",)),
        Kind(RBAC, ("v1",), "roles", "Role"),
        Kind(RBAC, ("v1",), "rolebindings", "RoleBinding"),
    )


@cache
def definitions(folder: Path) -> tuple[dict[str, Any], ...]:
    """The CRDs of the kinds that are served, as their objects."""
    return tuple(_definition(folder / f"{name}.yaml") for name in _CUSTOM)


def _definition(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(file.read_text(), _LOADER)
    for version in found["spec"]["versions"]:
        version["schema"] = Shared(version["schema"])
    return found


def custom_kind(definition: dict[str, Any]) -> Kind:
    """The kind that a CRD defines."""
    spec = definition["spec"]
    served = [version for version in spec["versions"] if version["served"]]
    served.sort(key=lambda version: not version["storage"])
    stored = served[0]
    return Kind(
        group=spec["group"],
        versions=tuple(version["name"] for version in served),
        plural=spec["names"]["plural"],
        kind=spec["names"]["kind"],
        namespaced=spec["scope"] == "Namespaced",
        has_status="status" in stored.get("subresources", {}),
        schemas={version["name"]: version["schema"]["openAPIV3Schema"] for version in served},
        columns=tuple(
            (column["name"], column["jsonPath"])
            for column in stored.get("additionalPrinterColumns", [])
            if column["type"] != "date" and not column.get("priority")
        ),
        short_names=tuple(spec["names"].get("shortNames", ())),
        categories=tuple(spec["names"].get("categories", ())),
    )


class Kinds:
    """All kinds that are served."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._by_path = {(kind.group, kind.plural): kind for kind in kinds}

    def __iter__(self):
        return iter(self._by_path.values())

    def find(self, group: str, plural: str) -> Kind | None:
        return self._by_path.get((group, plural))

    def of(self, plural: str) -> Kind:
        """The kind of that plural, whatever its group."""
        (found,) = (kind for kind in self if kind.plural == plural)
        return found

    def named(self, api_version: str, kind: str) -> Kind | None:
        group = api_version.rpartition("/")[0]
        return next((it for it in self if (it.group, it.kind) == (group, kind)), None)


def all_kinds(folder: Path) -> Kinds:
    """Kubernetes' own and those of the CRDs in the folder."""
    return Kinds([*standard_kinds(), *(custom_kind(one) for one in definitions(folder))])
