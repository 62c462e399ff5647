"""Processes of a local stack that are on no record, as when its start was cut off in between."""

from __future__ import annotations

import os
import time

import psutil

from relay.local.places import LocalPlaces

MARK = "RELAY_LOCAL_PROCESS"
"""The environment variable that every process of a local stack inherits: `<root>#<name>`."""
_PATIENCE_S = 5.0
_LOOK_EVERY_S = 0.05


def leftovers(places: LocalPlaces) -> list[psutil.Process]:
    """Every living process that belongs to the stack of this folder."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get(MARK, "").startswith(f"{places.root}#")
            if mine and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def end_leftovers(places: LocalPlaces) -> int:
    """Kill them, until there are none; how many there were at first."""
    give_up_at = time.monotonic() + _PATIENCE_S
    found = leftovers(places)
    count = len(found)
    while found and time.monotonic() < give_up_at:
        for process in found:
            try:
                process.kill()
            except psutil.Error:
                continue
        time.sleep(_LOOK_EVERY_S)
        found = leftovers(places)
    return count
