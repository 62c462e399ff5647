"""Processes of a local stack that are on no record, as when its start was cut off in between."""

from __future__ import annotations

import os
import time
from collections.abc import Collection

import psutil

from relay.local.places import LocalPlaces

MARK = "RELAY_LOCAL_PROCESS"
"""The environment variable that every process of a local stack inherits: `<root>#<name>`."""
_PATIENCE_S = 5.0
_LOOK_EVERY_S = 0.05


def mark_of(places: LocalPlaces, name: str) -> str:
    """What a process of the stack inherits in `MARK`."""
    return f"{places.root}#{name}"


def leftovers(places: LocalPlaces, but: Collection[str] = ()) -> list[psutil.Process]:
    """Every living process that belongs to the stack of this folder.

    Args:
        places: the folder.
        but: names of those that are to be left alone.
    """
    spared = {mark_of(places, name) for name in but}
    found = []
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK, "")
            mine = mark.startswith(mark_of(places, "")) and mark not in spared
            if mine and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def end_leftovers(places: LocalPlaces, but: Collection[str] = ()) -> int:
    """Kill them, until two looks find none; how many there were in all.

    One look may miss a process that is just becoming another program: for that moment it has no
    environment.
    """
    give_up_at = time.monotonic() + _PATIENCE_S
    killed: set[int] = set()
    empty = 0
    while empty < 2 and time.monotonic() < give_up_at:  # noqa: PLR2004 - as said above
        found = leftovers(places, but)
        empty = 0 if found else empty + 1
        for process in found:
            killed.add(process.pid)
            try:
                process.kill()
            except psutil.Error:
                continue
        time.sleep(_LOOK_EVERY_S)
    return len(killed)
