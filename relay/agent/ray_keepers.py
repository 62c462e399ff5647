"""Who starts Ray again."""

from __future__ import annotations

from pathlib import Path

from contracts.errors import ServiceUnavailable
from relay.local import ray_head
from relay.local.errors import LocalStackError
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of
from relay.local.processes import Processes


class SomebodyElse:
    """`RayKeeper` for a Ray that is not this machine's business: it is only waited for."""

    def alive(self) -> bool | None:
        """Cannot be told."""
        return None

    def grows(self) -> bool:
        """It may: that cannot be told either."""
        return True

    def restart(self) -> None:
        """Leave it to whoever started it."""


class LocalRay:
    """`RayKeeper` for the Ray head of the local stack."""

    def __init__(self, root: Path, cpus: int) -> None:
        self._places = LocalPlaces(root)
        self._processes = Processes(self._places)
        self._cpus = cpus

    def alive(self) -> bool | None:
        """Whether the head's process runs."""
        return self._processes.alive(ray_head.NAME)

    def grows(self) -> bool:
        """It is one head and stays so."""
        return False

    def restart(self) -> None:
        """End what is left of it and start it anew; see `RayKeeper.restart`."""
        try:
            ray_head.stop_ray(self._places, self._processes)
            ray_head.start_ray(self._places, self._processes, ports_of(self._places), self._cpus)
        except LocalStackError as error:
            raise ServiceUnavailable(f"Ray did not start again: {error}") from error
