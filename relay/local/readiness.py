"""Waiting until a process answers."""

import time
from collections.abc import Callable

from relay.local.errors import NotReadyError
from relay.local.places import LocalPlaces
from relay.local.processes import Processes

_LOOK_EVERY_S = 0.05


def wait_until_ready(
    places: LocalPlaces,
    processes: Processes,
    name: str,
    answers: Callable[[], bool],
    patience_s: float,
) -> None:
    """Return as soon as the process answers.

    Raises:
        NotReadyError: It ended, or did not answer within `patience_s` seconds.
    """
    started = time.monotonic()
    while not answers():
        waited_s = time.monotonic() - started
        if waited_s > patience_s or not processes.alive(name):
            raise NotReadyError(name, waited_s, places.log(name))
        time.sleep(_LOOK_EVERY_S)
