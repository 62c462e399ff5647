"""Watches: what changed since a version, as a stream that ends after a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from fakes.kube_api.history import Entry
from fakes.kube_api.kinds import Kind
from fakes.kube_api.refusals import Refused
from fakes.kube_api.store import Store

Event = dict[str, Any]
_TURN_S = 0.2


def watch(
    store: Store,
    kind: Kind,
    namespace: str,
    fits: Callable[[dict[str, Any]], bool],
    since: int,
    within_s: float,
    open_: Callable[[], bool],
) -> Iterator[Event]:
    """Events until the time is over; the last one is an ERROR if history was forgotten."""
    end = time.monotonic() + within_s
    while open_() and (left := end - time.monotonic()) > 0:
        try:
            entries = store.history.since(since, min(left, _TURN_S))
        except Refused as refused:
            yield {"type": "ERROR", "object": refused.status()}
            return
        for entry in entries:
            since = entry.version
            if (entry.group, entry.plural) != (kind.group, kind.plural):
                continue
            if namespace in ("", entry.item["metadata"].get("namespace", "")):
                yield from _seen(entry, fits)


def _seen(entry: Entry, fits: Callable[[dict[str, Any]], bool]) -> Iterator[Event]:
    """The change as one sees it who sees only what fits a selector."""
    fitted = entry.before is not None and fits(entry.before)
    if entry.change == "DELETED":
        if fitted:
            yield {"type": "DELETED", "object": entry.item}
    elif fits(entry.item):
        yield {"type": "MODIFIED" if fitted else "ADDED", "object": entry.item}
    elif fitted:
        yield {"type": "DELETED", "object": entry.item}
