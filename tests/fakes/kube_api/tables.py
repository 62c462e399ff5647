"""Lists as `kubectl get` asks for them: tables with the columns of the CRD."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fakes.kube_api.clock import read_stamp
from fakes.kube_api.kinds import Kind
from fakes.kube_api.selectors import at


def wants_table(accept: str) -> bool:
    """Whether the caller's first choice is a table that we can make."""
    first = accept.split(",", maxsplit=1)[0]
    return "as=Table" in first and "g=meta.k8s.io" in first and "v=v1;" in first + ";"


def wants_metadata(accept: str) -> bool:
    """Whether the caller wants no more than the metadata of each object."""
    return "as=PartialObjectMetadata" in accept.split(",", maxsplit=1)[0]


def only_metadata(answer: dict[str, Any]) -> dict[str, Any]:
    """An object, or a list of them, without anything but its metadata."""
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    if "items" not in answer:
        return {**partial, "metadata": answer["metadata"]}
    items = [{**partial, "metadata": item["metadata"]} for item in answer["items"]]
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": answer["metadata"],
        "items": items,
    }


def table(kind: Kind, items: list[dict[str, Any]], version: str, now: datetime) -> dict[str, Any]:
    """The items as rows."""
    columns = [("Name", "", "name"), *((name, path, "") for name, path in kind.columns)]
    definitions = [
        {"name": name, "type": "string", "format": form, "description": path, "priority": 0}
        for name, path, form in columns
    ]
    age = {"name": "Age", "type": "string", "format": "", "description": "", "priority": 0}
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": version},
        "columnDefinitions": [*definitions, age],
        "rows": [_row(kind, item, now) for item in items],
    }


def _row(kind: Kind, item: dict[str, Any], now: datetime) -> dict[str, Any]:
    metadata = item["metadata"]
    cells: list[Any] = [metadata["name"]]
    for _, path in kind.columns:
        value = at(item, path.removeprefix(".")) if "[" not in path else None
        cells.append("" if value is None else str(value))
    cells.append(_age(metadata.get("creationTimestamp"), now))
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    return {"cells": cells, "object": {**partial, "metadata": metadata}}


def _age(created: str | None, now: datetime) -> str:
    if created is None:
        return "<unknown>"
    seconds = int((now - read_stamp(created)).total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
