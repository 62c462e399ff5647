"""The cluster's API and what is installed in it: KubeRay and its kinds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown, wrong

READ = (1, 7)
"""The version that the runner's rules were read in; of older ones nothing is known."""
_INSTALL = (
    "helm install kuberay-operator kuberay/kuberay-operator --version 1.7.0 "
    "--namespace kuberay-operator --create-namespace"
)


def reachable(answer: Answer) -> Finding:
    """Whether the API answers whoever asks here."""
    about = "cluster's API"
    return judge(
        about,
        answer,
        missing="this is no API of Kubernetes: see the cluster's endpoint",
        by=lambda found: ok(about, f"Kubernetes {found.get('gitVersion', '?')}"),
    )


def kuberay(answer: Answer) -> Finding:
    """Whether KubeRay is at work, in a version that the runner's rules are for."""
    about = "KubeRay operator"

    def by(found: Found) -> Finding:
        items = found.get("items", [])
        if not items:
            return wrong(about, "no deployment is labelled as it", _INSTALL)
        there = max(items, key=_ready)
        version = _version(there)
        seen = f"{'.'.join(map(str, version)) or 'of no known version'}, {_ready(there)} ready"
        if not _ready(there):
            remedy = "kubectl describe its deployment and pods: they say what they wait for"
            return wrong(about, seen, remedy)
        if version < READ:
            read = ".".join(map(str, READ))
            remedy = (
                f"the runner's rules were read in {read}: {_INSTALL.replace('install', 'upgrade')}"
            )
            return unknown(about, seen, remedy)
        return ok(about, seen)

    return judge(about, answer, missing=_INSTALL, by=by)


def kind(plural: str, group: str, versions: tuple[str, ...], answer: Answer, fix: str) -> Finding:
    """Whether the cluster serves a kind of object.

    Args:
        plural: the kind's.
        group: its API group.
        versions: of which one must be served.
        answer: the kind's definition.
        fix: how it gets there.
    """
    about = f"kind {plural}.{group}"

    def by(found: Found) -> Finding:
        served = [one["name"] for one in found["spec"]["versions"] if one.get("served")]
        if not set(served) & set(versions):
            return wrong(about, f"served as {', '.join(served)}, not {versions[0]}", fix)
        if not has_condition(found, "Established"):
            return wrong(about, "not established", "kubectl describe crd: it says why")
        return ok(about, ", ".join(served))

    return judge(about, answer, missing=fix, by=by)


def ray_kind(plural: str, answer: Answer) -> Finding:
    """Whether a kind of KubeRay's is there."""
    return kind(plural, "ray.io", ("v1",), answer, _INSTALL)


def has_condition(item: Mapping[str, Any], name: str) -> bool:
    """Whether an object says that a condition of it is true."""
    conditions = item.get("status", {}).get("conditions", [])
    return any(one.get("type") == name and one.get("status") == "True" for one in conditions)


def _ready(deployment: Mapping[str, Any]) -> int:
    return int(deployment.get("status", {}).get("readyReplicas", 0))


def _version(deployment: Mapping[str, Any]) -> tuple[int, ...]:
    labels = deployment.get("metadata", {}).get("labels", {})
    pod = deployment.get("spec", {}).get("template", {}).get("spec", {})
    images = [one.get("image", "") for one in pod.get("containers", [])]
    for text in (*images, labels.get("app.kubernetes.io/version", "")):
        match = re.search(r"(?:^|:)v?(\d+)\.(\d+)\.(\d+)", text)
        if match:
            return tuple(int(part) for part in match.groups())
    return ()
