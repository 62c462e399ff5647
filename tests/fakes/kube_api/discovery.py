"""What the server says of itself: version, groups, resources, and a little OpenAPI for kubectl."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fakes.kube_api.kinds import Kind, Kinds

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
REVIEW = "selfsubjectaccessreviews"
REVIEW_GROUP = "authorization.k8s.io"
VERSION = {
    "major": "1",
    "minor": "34",
    "gitVersion": "v1.34.1-eks-fake",
    "gitCommit": "0" * 40,
    "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "go1.24.0",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def document(path: str, kinds: Kinds) -> dict[str, Any] | None:
    """The document at a path of discovery; None when the path is none."""
    if path == "/version":
        return VERSION
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    if path == "/api/v1":
        return _resources("v1", [kind for kind in kinds if not kind.group])
    if path == "/apis":
        groups = sorted({kind.group for kind in kinds if kind.group} | {REVIEW_GROUP})
        found = [_group(name, kinds) for name in groups]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}
    if path.startswith("/apis/"):
        return _below_apis(path.strip("/").split("/"), kinds)
    return _openapi(path, kinds)


def _below_apis(parts: list[str], kinds: Kinds) -> dict[str, Any] | None:
    if len(parts) == 3:
        return _group_version(parts[1], parts[2], kinds)
    if len(parts) == 2 and _versions(parts[1], kinds):
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], kinds)}
    return None


def _group_version(group: str, version: str, kinds: Kinds) -> dict[str, Any] | None:
    if (group, version) == (REVIEW_GROUP, "v1"):
        review = {
            "name": REVIEW,
            "singularName": "",
            "namespaced": False,
            "kind": "SelfSubjectAccessReview",
            "verbs": ["create"],
        }
        return _resource_list(f"{group}/{version}", [review])
    found = [kind for kind in kinds if kind.group == group and version in kind.versions]
    return _resources(f"{group}/{version}", found) if found else None


def _versions(group: str, kinds: Kinds) -> list[str]:
    if group == REVIEW_GROUP:
        return ["v1"]
    found: list[str] = []
    for kind in kinds:
        if kind.group == group:
            found += [version for version in kind.versions if version not in found]
    return found


def _group(name: str, kinds: Kinds) -> dict[str, Any]:
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version in _versions(name, kinds)
    ]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resources(group_version: str, kinds: Iterable[Kind]) -> dict[str, Any]:
    listed: list[dict[str, Any]] = []
    for kind in kinds:
        listed.append(
            {
                "name": kind.plural,
                "singularName": kind.kind.lower(),
                "namespaced": kind.namespaced,
                "kind": kind.kind,
                "verbs": list(VERBS),
                "shortNames": list(kind.short_names),
                "categories": list(kind.categories),
            }
        )
        below = {"status": ["get", "patch", "update"]} if kind.has_status else {}
        if kind.plural == "pods":
            below["log"] = ["get"]
        for name, verbs in below.items():
            listed.append(
                {
                    "name": f"{kind.plural}/{name}",
                    "singularName": "",
                    "namespaced": kind.namespaced,
                    "kind": kind.kind,
                    "verbs": verbs,
                }
            )
    return _resource_list(group_version, listed)


def _resource_list(group_version: str, resources: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    }


def _openapi(path: str, kinds: Kinds) -> dict[str, Any] | None:
    """Enough for kubectl to see that the server itself validates fields (`fieldValidation`)."""
    names = sorted({"api/v1", *(f"apis/{kind.api_version()}" for kind in kinds if kind.group)})
    if path == "/openapi/v3":
        return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}"} for name in names}}
    name = path.removeprefix("/openapi/v3/")
    if name == path or name not in names:
        return None
    group, _, version = name.removeprefix("apis/").rpartition("/")
    paths: dict[str, Any] = {}
    for kind in kinds:
        if name == ("api/v1" if not kind.group else f"apis/{kind.api_version()}"):
            where = f"/{name}/" + ("namespaces/{namespace}/" if kind.namespaced else "")
            gvk = {"group": kind.group, "version": kind.versions[0], "kind": kind.kind}
            operation = {
                "parameters": [{"name": "fieldValidation", "in": "query"}],
                "responses": {},
                "x-kubernetes-group-version-kind": gvk,
            }
            paths[f"{where}{kind.plural}/{{name}}"] = {"patch": operation, "put": operation}
            paths[f"{where}{kind.plural}"] = {"post": operation}
    info = {"title": "fake", "version": f"{group}{version}"}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": {}}}
