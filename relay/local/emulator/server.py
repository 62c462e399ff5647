"""Serve MiniStack with its gaps closed, on loopback over TLS, until told to stop."""

import asyncio
import logging
import os
import signal
from typing import cast

from hypercorn.asyncio import serve as serve_app
from hypercorn.config import Config
from hypercorn.typing import ASGIFramework
from ministack.app import app

from relay.local.emulator import used_rights
from relay.local.emulator.durability import Durability
from relay.local.emulator.gaps import close_all, restarts
from relay.local.places import LocalPlaces

_QUIET = ("persistence", "hypercorn.access")


def serve(places: LocalPlaces, port: int) -> None:
    """Serve until SIGTERM or SIGINT, then save everything and return."""
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    close_all()
    used_rights.watch(places.used_rights)
    durability = Durability()
    durability.watch()
    asyncio.run(_serve(durability, _config(places, port)))


def _config(places: LocalPlaces, port: int) -> Config:
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.certfile = str(places.certificate)
    config.keyfile = str(places.private_key)
    config.keep_alive_timeout = 75
    return config


async def _serve(durability: Durability, config: Config) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    framework = cast(ASGIFramework, restarts.around(durability.around(app)))
    stopped = asyncio.create_task(stop.wait())
    tasks = {
        stopped,
        asyncio.create_task(durability.keep_saving()),
        asyncio.create_task(serve_app(framework, config, shutdown_trigger=_never)),
    }
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done - {stopped}:
        # Neither saving nor serving ends by itself, unless it fails.
        task.result()
    await durability.save_all()
    # Connections and functions at work are not waited for: an orderly end of TLS may take the
    # client half a minute, and what was acknowledged is on disk.
    os._exit(0)


async def _never() -> None:
    await asyncio.Event().wait()
