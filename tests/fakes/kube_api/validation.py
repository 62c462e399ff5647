"""Whether an object may be stored: known fields, schema, names, and what never changes."""

from __future__ import annotations

from typing import Any, Literal

from fakes.kube_api import schema
from fakes.kube_api.kinds import Kind
from fakes.kube_api.naming import faults as metadata_faults
from fakes.kube_api.pod_rules import pod_faults, template_faults, templates_of
from fakes.kube_api.refusals import Cause, bad_request, invalid, unknown_fields
from fakes.kube_api.trees import copied

Strictness = Literal["Strict", "Warn", "Ignore"]
_METADATA = {
    "name",
    "generateName",
    "namespace",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
}


def cleaned(body: dict[str, Any], kind: Kind, strict: Strictness) -> tuple[dict[str, Any], str]:
    """An object as it came in, pruned and with defaults; and a warning, if it was pruned.

    Raises:
        Refused: 400, it is of another kind, or has unknown fields and must not.
    """
    version = str(body.get("apiVersion", "")).rpartition("/")[2]
    if body.get("kind") != kind.kind or body.get("apiVersion") != kind.api_version(version):
        raise bad_request(
            f"the object ({body.get('apiVersion')}, {body.get('kind')}) is not a {kind.kind} "
            f"of {kind.api_version()}"
        )
    if version not in kind.versions:
        raise bad_request(f"{kind.kind} has no version {version!r}")
    made = copied(body)
    metadata = made.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise bad_request("metadata must be an object")
    gone = [f"metadata.{name}" for name in metadata if name not in _METADATA]
    for path in gone:
        metadata.pop(path.removeprefix("metadata."))
    if kind.schemas:
        rest = {name: value for name, value in made.items() if name != "metadata"}
        gone += schema.unknown(rest, kind.schemas[version])
        schema.fill(rest, kind.schemas[version])
        made = {**rest, "metadata": metadata}
    if gone and strict == "Strict":
        raise unknown_fields(kind.kind, version, gone)
    warning = ", ".join(f'unknown field "{path}"' for path in gone) if strict == "Warn" else ""
    return made, warning


def check(made: dict[str, Any], kind: Kind, old: dict[str, Any] | None = None) -> None:
    """Raises: Refused: 422, with every cause."""
    causes = list(metadata_faults(made["metadata"], kind))
    version = made["apiVersion"].rpartition("/")[2]
    if kind.schemas:
        rest = {name: value for name, value in made.items() if name != "metadata"}
        causes += schema.check(rest, kind.schemas[version], old=old)
    if not causes:
        causes += _beyond_the_schema(made, kind)
    if causes:
        raise invalid(kind.group, kind.kind, made["metadata"].get("name", ""), causes)


def _beyond_the_schema(made: dict[str, Any], kind: Kind) -> list[Cause]:
    spec = made.get("spec", {})
    if kind.plural == "pods":
        return list(pod_faults(spec, "spec"))
    templates: list[tuple[str, dict[str, Any]]] = []
    if kind.plural == "rayclusters":
        templates += templates_of(spec, "spec")
    if kind.plural == "rayjobs":
        templates += templates_of(spec.get("rayClusterSpec", {}), "spec.rayClusterSpec")
        if "submitterPodTemplate" in spec:
            templates.append(("spec.submitterPodTemplate", spec["submitterPodTemplate"]))
    return [cause for path, template in templates for cause in template_faults(template, path)]
