"""The embedded AWS as a process of the local stack."""

import os
import shutil
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from relay.local.certificate import ensure_certificate
from relay.local.environment import endpoint
from relay.local.errors import PortTakenError
from relay.local.places import LocalPlaces
from relay.local.ports import taken
from relay.local.processes import Processes
from relay.local.readiness import wait_until_ready

NAME = "emulator"
_PATIENCE_S = 60.0
_PORT_PATIENCE_S = 2.0
_ENDING_S = 1.0


def start_emulator(places: LocalPlaces, processes: Processes, port: int) -> None:
    """Start the embedded AWS unless it runs, and return once it answers.

    Raises:
        PortTakenError: Something else listens on its port.
        NotReadyError: It does not answer.
    """
    if not processes.alive(NAME) or _is_ending(places, processes, port):
        # What an earlier one left behind when it was killed: functions at work, their code.
        processes.stop(NAME)
        _wait_for_port(places, port)
        shutil.rmtree(places.scratch, ignore_errors=True)
        places.make()
        ensure_certificate(places)
        command = [sys.executable, "-m", "relay.local.emulator"]
        command += ["--root", str(places.root), "--port", str(port)]
        processes.start(NAME, command, dict(os.environ), _checkout(), places.scratch)
    wait_until_ready(places, processes, NAME, lambda: answers(places, port), _PATIENCE_S)


def _is_ending(places: LocalPlaces, processes: Processes, port: int) -> bool:
    """Whether the process that is there goes away, as one that was just killed does."""
    give_up_at = time.monotonic() + _ENDING_S
    while processes.alive(NAME) and time.monotonic() < give_up_at:
        if answers(places, port):
            return False
        time.sleep(0.05)
    return not processes.alive(NAME)


def answers(places: LocalPlaces, port: int) -> bool:
    """Whether the embedded AWS answers on its port."""
    try:
        context = ssl.create_default_context(cafile=str(places.certificate))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(f"{endpoint(port)}/_ministack/health", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _wait_for_port(places: LocalPlaces, port: int) -> None:
    """Give the kernel a moment to take the port from a process that is gone."""
    give_up_at = time.monotonic() + _PORT_PATIENCE_S
    while taken(port):
        if time.monotonic() > give_up_at:
            raise PortTakenError(port, places.root)
        time.sleep(0.05)


def _checkout() -> Path:
    """The folder that `relay` is imported from, so that the new process finds it too."""
    return Path(__file__).parents[2]
