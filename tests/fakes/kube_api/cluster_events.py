"""Events: what controllers tell of an object."""

from __future__ import annotations

from typing import Any

from fakes.kube_api.clock import stamp
from fakes.kube_api.naming import random_suffix
from fakes.kube_api.store import Store


def tell(
    store: Store,
    about: dict[str, Any],
    reason: str,
    message: str,
    *,
    warning: bool = False,
    by: str = "rayjob-controller",
) -> None:
    """Record an event beside an object."""
    metadata = about["metadata"]
    now = stamp(store.clock.now())
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{random_suffix()}{random_suffix()}"},
        "involvedObject": {
            "kind": about["kind"],
            "apiVersion": about["apiVersion"],
            "name": metadata["name"],
            "namespace": metadata.get("namespace", ""),
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "reason": reason,
        "message": message,
        "type": "Warning" if warning else "Normal",
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": by},
        "reportingComponent": by,
        "reportingInstance": "",
    }
    store.create(store.kinds.of("events"), event, metadata.get("namespace", ""))
