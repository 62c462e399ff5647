"""The ports of the local stack: free ones at the first start, the same ones ever after."""

import json
import socket
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace

from relay.local.errors import DamagedStateError
from relay.local.places import LocalPlaces


@dataclass(frozen=True)
class Ports:
    """A port on 127.0.0.1 for each thing that listens where others must find it."""

    emulator: int
    ray_gcs: int
    ray_dashboard: int
    ray_agent_http: int
    ray_agent_grpc: int
    ray_client: int


def ports_of(places: LocalPlaces) -> Ports:
    """The folder's ports, chosen now if this is the first time.

    Addresses of queues are part of what is deployed, so the ports must not change later.
    """
    if places.ports.exists():
        return _read(places)
    ports = Ports(*_free(len(Ports.__dataclass_fields__)))
    _write(places, ports)
    return ports


def free_for_ray(places: LocalPlaces) -> Ports:
    """The folder's ports; Ray's are chosen anew if another program took one of them meanwhile.

    Nothing that is deployed names those. For a Ray that is about to start.
    """
    ports = ports_of(places)
    names = [name for name in Ports.__dataclass_fields__ if name.startswith("ray_")]
    if any(taken(getattr(ports, name)) for name in names):
        ports = replace(ports, **dict(zip(names, _free(len(names)), strict=True)))
        _write(places, ports)
    return ports


def _write(places: LocalPlaces, ports: Ports) -> None:
    partial = places.ports.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(ports)))
    partial.replace(places.ports)


def _read(places: LocalPlaces) -> Ports:
    try:
        ports = Ports(**json.loads(places.ports.read_text()))
        if not all(isinstance(one, int) for one in asdict(ports).values()):
            raise TypeError("a port is a whole number")
    except (ValueError, TypeError) as error:
        remedy = f"the deployed addresses are lost with it; remove {places.root} to start afresh"
        raise DamagedStateError(places.ports, remedy) from error
    return ports


def _free(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            for _ in range(count)
        ]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def taken(port: int) -> bool:
    """Whether something listens on the port of 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
