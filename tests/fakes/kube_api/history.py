"""What changed, in order: the source of watches."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Literal, NamedTuple

from fakes.kube_api.refusals import gone

Change = Literal["ADDED", "MODIFIED", "DELETED"]


class Entry(NamedTuple):
    """One change; `before` is the object as it was, for selectors that it left or entered."""

    version: int
    change: Change
    group: str
    plural: str
    item: dict[str, Any]
    before: dict[str, Any] | None


class History:
    """The last changes; older ones are forgotten, as etcd compacts them."""

    def __init__(self, lock: threading.RLock, keep: int = 5_000) -> None:
        self._entries: deque[Entry] = deque(maxlen=keep)
        self._more = threading.Condition(lock)
        self._oldest = 0

    def add(self, entry: Entry) -> None:
        with self._more:
            if len(self._entries) == self._entries.maxlen:
                self._oldest = self._entries[0].version
            self._entries.append(entry)
            self._more.notify_all()

    def forget(self) -> None:
        """Compact: who watches from before now has to list again."""
        with self._more:
            if self._entries:
                self._oldest = self._entries[-1].version
            self._entries.clear()

    def since(self, version: int, within_s: float) -> list[Entry]:
        """What changed after a version; waits when nothing has yet.

        Raises:
            Refused: 410, the changes since then are forgotten.
        """
        with self._more:
            if version < self._oldest:
                raise gone(self._oldest, version)
            if not self._newer(version):
                self._more.wait(within_s)
            return self._newer(version)

    def _newer(self, version: int) -> list[Entry]:
        return [entry for entry in self._entries if entry.version > version]
