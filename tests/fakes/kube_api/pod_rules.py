"""What Kubernetes finds wrong with a pod beyond its schema.

On a real cluster a bad pod template shows only when the operator fails to make the pod, as an
event beside a RayJob that waits for ever. Here it is refused at once, with the RayJob.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from fakes.kube_api.naming import annotation_faults, label_faults
from fakes.kube_api.refusals import Cause

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_QUANTITY = re.compile(r"([+-]?[0-9.]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?")
_SIZES = {"m": Decimal("0.001"), **{u: Decimal(1000) ** (i + 1) for i, u in enumerate("kMGTPE")}}
_SIZES |= {f"{unit}i": Decimal(1024) ** (i + 1) for i, unit in enumerate("KMGTPE")}
_NATIVE = {"cpu", "memory", "ephemeral-storage"}


def templates_of(ray_cluster: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every pod template of a RayCluster's spec, with where it stands."""
    if "template" in ray_cluster.get("headGroupSpec", {}):
        yield f"{path}.headGroupSpec.template", ray_cluster["headGroupSpec"]["template"]
    for index, group in enumerate(ray_cluster.get("workerGroupSpecs", [])):
        yield f"{path}.workerGroupSpecs[{index}].template", group.get("template", {})


def template_faults(template: dict[str, Any], path: str) -> Iterator[Cause]:
    """What is wrong with a pod template."""
    metadata = template.get("metadata", {})
    yield from label_faults(metadata.get("labels", {}), f"{path}.metadata.labels")
    yield from annotation_faults(metadata.get("annotations", {}), f"{path}.metadata.annotations")
    yield from pod_faults(template.get("spec", {}), f"{path}.spec")


def pod_faults(spec: dict[str, Any], path: str) -> Iterator[Cause]:
    """What is wrong with a pod's spec."""
    containers = spec.get("containers", [])
    if not containers:
        yield Cause("FieldValueRequired", "Required value", f"{path}.containers")
    volumes = [volume.get("name", "") for volume in spec.get("volumes", [])]
    every = [*containers, *spec.get("initContainers", [])]
    yield from _duplicates([it.get("name", "") for it in every], f"{path}.containers")
    yield from _duplicates(volumes, f"{path}.volumes")
    yield from label_faults(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    for index, container in enumerate(containers):
        yield from _container_faults(container, set(volumes), f"{path}.containers[{index}]")
    for index, volume in enumerate(spec.get("volumes", [])):
        sources = [key for key in volume if key != "name"]
        if len(sources) != 1:
            yield _invalid(f"{path}.volumes[{index}]", sources, "must have exactly one source")


def _container_faults(container: dict[str, Any], volumes: set[str], path: str) -> Iterator[Cause]:
    name = container.get("name", "")
    if not _LABEL.fullmatch(name) or len(name) > 63:
        yield _invalid(f"{path}.name", name, "a lowercase RFC 1123 label")
    if not container.get("image"):
        yield Cause("FieldValueRequired", "Required value", f"{path}.image")
    for index, mount in enumerate(container.get("volumeMounts", [])):
        if mount["name"] not in volumes:
            at = f"{path}.volumeMounts[{index}].name"
            yield Cause("FieldValueNotFound", f'Not found: "{mount["name"]}"', at)
    paths = [mount.get("mountPath", "") for mount in container.get("volumeMounts", [])]
    yield from _duplicates(paths, f"{path}.volumeMounts")
    for index, variable in enumerate(container.get("env", [])):
        if not _VARIABLE.fullmatch(variable["name"]):
            yield _invalid(f"{path}.env[{index}].name", variable["name"], "not a variable's name")
        if "value" in variable and "valueFrom" in variable:
            yield _invalid(f"{path}.env[{index}]", "", "value and valueFrom")
    # Kubernetes lets the later of two variables win; nobody means that.
    yield from _duplicates([it["name"] for it in container.get("env", [])], f"{path}.env")
    yield from _resource_faults(container.get("resources", {}), f"{path}.resources")


def _resource_faults(resources: dict[str, Any], path: str) -> Iterator[Cause]:
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name, amount in requests.items():
        if name in limits and quantity(amount) > quantity(limits[name]):
            yield _invalid(f"{path}.requests.{name}", amount, f"must be <= limit {limits[name]}")
    for name in {*requests, *limits} - _NATIVE:
        if "/" not in name:
            yield _invalid(path, name, "must be a standard resource or fully qualified")
        elif name not in limits or requests.get(name, limits[name]) != limits[name]:
            yield _invalid(f"{path}.requests.{name}", name, "extended resources: request = limit")
        elif quantity(limits[name]) % 1:
            yield _invalid(f"{path}.limits.{name}", limits[name], "must be an integer")


def quantity(text: Any) -> Decimal:
    """A Kubernetes quantity as a number.

    Raises:
        ValueError: it is none.
    """
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    number, unit = Decimal(match[1]), match[2]
    if unit is None:
        return number
    return number * _SIZES[unit] if unit in _SIZES else number * Decimal(f"1{unit}")


def _duplicates(names: list[str], path: str) -> Iterator[Cause]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Cause("FieldValueDuplicate", f'Duplicate value: "{name}"', path)


def _invalid(path: str, value: Any, message: str) -> Cause:
    return Cause("FieldValueInvalid", f'Invalid value: "{value}": {message}', path)
