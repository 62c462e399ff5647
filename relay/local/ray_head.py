"""A Ray head on this machine: loopback only, closed by a token, with the Jobs API.

Ray is never stopped by name (`ray stop` ends every Ray of the user); only what was started here
is ended.
"""

import os
import secrets
import shutil
import sys
import urllib.error
import urllib.request
from pathlib import Path

from relay.local.environment import client_environment, interpreter_first, no_proxy, unaddressed
from relay.local.places import LocalPlaces
from relay.local.ports import Ports
from relay.local.processes import Processes
from relay.local.readiness import wait_until_ready

NAME = "ray"
_PATIENCE_S = 90.0
GRACE_S = 1.0


def jobs_address(ports: Ports) -> str:
    """Where the Jobs API answers."""
    return f"http://127.0.0.1:{ports.ray_dashboard}"


def ray_environment(places: LocalPlaces, ports: Ports) -> dict[str, str]:
    """What every process needs that starts Ray, joins it or talks to it.

    `RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0` is what makes Ray treat 127.0.0.1 as its node's
    address; without it the raylet, the agents and the GCS listen on every interface.
    """
    return {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token_file(places)),
        "RAY_API_SERVER_ADDRESS": jobs_address(ports),
        "RAY_ADDRESS": f"127.0.0.1:{ports.ray_gcs}",
        **no_proxy(),
    }


def token_file(places: LocalPlaces) -> Path:
    """The file with Ray's token, readable by its owner only."""
    return places.root / "ray-token"


def start_ray(places: LocalPlaces, processes: Processes, ports: Ports, num_cpus: int) -> str:
    """Start the head unless it runs, and return its Jobs API's address once it answers.

    Raises:
        NotReadyError: It does not answer.
    """
    if not processes.alive(NAME):
        stop_ray(places, processes)
        places.ray.mkdir(mode=0o700, exist_ok=True)
        _ensure_token(places)
        environment = {
            **unaddressed(os.environ),
            **client_environment(places, ports.emulator),
            **ray_environment(places, ports),
            "PATH": interpreter_first(os.environ),
        }
        # The head must not look for itself.
        environment.pop("RAY_ADDRESS")
        # Its temporary folder is its own: a socket in the stack's might have too long a path.
        command = _command(places, ports, num_cpus)
        processes.start(NAME, command, environment, temporary=places.ray)
    wait_until_ready(places, processes, NAME, lambda: answers(places, ports), _PATIENCE_S)
    return jobs_address(ports)


def stop_ray(places: LocalPlaces, processes: Processes) -> None:
    """End the head and all its workers, and remove its folder with logs and sockets."""
    processes.stop(NAME, GRACE_S)
    remove_folder(places)


def remove_folder(places: LocalPlaces) -> None:
    """Remove logs and sockets of a head that has ended, or never began."""
    shutil.rmtree(places.ray, ignore_errors=True)


def answers(places: LocalPlaces, ports: Ports) -> bool:
    """Whether the Jobs API answers."""
    try:
        request = urllib.request.Request(  # noqa: S310 - our own address
            f"{jobs_address(ports)}/api/jobs/",
            headers={"Authorization": f"Bearer {token_file(places).read_text()}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _command(places: LocalPlaces, ports: Ports, num_cpus: int) -> list[str]:
    options = {
        "node-ip-address": "127.0.0.1",
        "port": ports.ray_gcs,
        "dashboard-host": "127.0.0.1",
        "dashboard-port": ports.ray_dashboard,
        "dashboard-agent-listen-port": ports.ray_agent_http,
        "dashboard-agent-grpc-port": ports.ray_agent_grpc,
        "ray-client-server-port": ports.ray_client,
        "temp-dir": places.ray,
        "object-store-memory": 200_000_000,
        "num-cpus": num_cpus,
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    entry = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    return [*entry, "--disable-usage-stats", *flags]


def _ensure_token(places: LocalPlaces) -> None:
    path = token_file(places)
    if path.exists():
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32))
