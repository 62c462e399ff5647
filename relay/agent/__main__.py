"""`python -m relay.agent`: run until told to leave."""

from __future__ import annotations

import fcntl
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from botocore.exceptions import ClientError

from contracts.errors import ContractBroken
from relay.agent.agent import OUTSIDE_ERRORS
from relay.agent.in_flight import InFlight
from relay.agent.settings import Settings, read
from relay.agent.wiring import Connected, SystemClock, connect
from relay.console.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger("relay.agent")

_PAUSE_S = 1.0
_REFUSED = {
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidToken",
    "UnrecognizedClientException",
}
_CONFLICT = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an agent; 0 after SIGTERM, 1 when its file is damaged, 4 when another has the folder."""
    settings = read(arguments)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("botocore").setLevel(logging.WARNING)
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    leaving = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: leaving.set())
    with _alone(settings.state / "lock") as free:
        if not free:
            log.error("another agent works in %s", settings.state)
            return _CONFLICT
        try:
            in_flight = InFlight(settings.state / "in-flight.json")
        except ContractBroken as error:
            log.error("%s; look at the jobs in Ray, then remove the file", error)
            return 1
        _work(settings, in_flight, leaving)
    return 0


def _work(settings: Settings, in_flight: InFlight, leaving: threading.Event) -> None:
    log.info("agent %s, %d jobs in flight", in_flight.agent, len(in_flight.jobs()))
    connected: Connected | None = None
    while not leaving.is_set():
        try:
            connected = connected or _connect(settings, in_flight, leaving)
            connected.credentials.renew(SystemClock().now())
            connected.agent.turn()
        except (*OUTSIDE_ERRORS, ToolError) as error:
            log.warning("%s; trying again", error)
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in _REFUSED:
                connected = None
            leaving.wait(_PAUSE_S)
    if connected is not None:
        connected.agent.leave()
    log.info("agent %s leaves", in_flight.agent)


def _connect(settings: Settings, in_flight: InFlight, leaving: threading.Event) -> Connected:
    connected = connect(settings, in_flight)
    connected.agent.leaving = leaving
    log.info("connected to stack %s", settings.stack)
    return connected


@contextmanager
def _alone(path: Path) -> Iterator[IO[str] | None]:
    """Hold the folder's lock; None when another process does. The kernel frees it at any end."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file


if __name__ == "__main__":
    sys.exit(main())
