"""The kubelet, played: pods that are deleted while they run have a while to end."""

from __future__ import annotations

from fakes.kube_api.clock import read_stamp
from fakes.kube_api.kinds import Kind
from fakes.kube_api.store import Object, Store


class Kubelet:
    """Ends pods.

    Attributes:
        ending_s: how long a running pod takes to end; its own grace bounds it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.ending_s: float = 0
        store.lingers = _runs

    def step(self) -> None:
        kind = self._store.kinds.of("pods")
        for pod in self._store.list(kind)[0]:
            asked = pod["metadata"].get("deletionTimestamp")
            if asked is None:
                continue
            grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
            waited = (self._store.clock.now() - read_stamp(asked)).total_seconds()
            if waited >= min(self.ending_s, grace):
                self._store.end(kind, pod)


def _runs(kind: Kind, item: Object) -> bool:
    phase = item.get("status", {}).get("phase")
    return kind.plural == "pods" and phase == "Running"
