"""The embedded AWS as a process of the local stack."""

import os
import shutil
import ssl
import sys
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


def start_emulator(places: LocalPlaces, processes: Processes, port: int) -> None:
    """Start the embedded AWS unless it runs, and return once it answers.

    Raises:
        PortTakenError: Something else listens on its port.
        NotReadyError: It does not answer.
    """
    if not processes.alive(NAME):
        if taken(port):
            raise PortTakenError(port, places.root)
        # What an earlier process left behind when it was killed.
        shutil.rmtree(places.scratch, ignore_errors=True)
        places.make()
        ensure_certificate(places)
        command = [sys.executable, "-m", "relay.local.emulator"]
        command += ["--root", str(places.root), "--port", str(port)]
        processes.start(NAME, command, dict(os.environ), cwd=_checkout())
    wait_until_ready(places, processes, NAME, lambda: answers(places, port), _PATIENCE_S)


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


def _checkout() -> Path:
    """The folder that `relay` is imported from, so that the new process finds it too."""
    return Path(__file__).parents[2]
