"""The processes of a job on this machine, found by what they were started with."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import psutil

_SETTLE_S = 1.0
_LOOK_EVERY_S = 0.05


class LocalProcesses:
    """`Processes` over the process table; this process and its parents are never meant."""

    def alive(self, mark: str) -> bool:
        """Whether a process whose command line holds `mark` lives."""
        return bool(_marked([mark]))

    def end(self, marks: Sequence[str], grace_s: float) -> bool:
        """End the marked processes and all below them: ask, wait, kill, and look again."""
        found = _with_descendants(_marked(marks))
        for process in found:
            _signal(process, "terminate")
        left = _outlasting(found, grace_s)
        for process in {*left, *_with_descendants(_marked(marks))}:
            _signal(process, "kill")
        _outlasting(found, _SETTLE_S)
        return not _marked(marks)


def _marked(marks: Sequence[str]) -> list[psutil.Process]:
    me = os.getpid()
    found = []
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            gone = process.pid == me or process.status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            continue
        if not gone and any(mark in line for mark in marks):
            found.append(process)
    return found


def _outlasting(processes: list[psutil.Process], wait_s: float) -> list[psutil.Process]:
    """Those that still live after `wait_s`; their exit codes are left to their parents."""
    give_up_at = time.monotonic() + wait_s
    while True:
        left = [process for process in processes if _lives(process)]
        if not left or time.monotonic() >= give_up_at:
            return left
        time.sleep(_LOOK_EVERY_S)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _with_descendants(roots: list[psutil.Process]) -> list[psutil.Process]:
    found = {process.pid: process for process in roots}
    for root in roots:
        try:
            found.update({child.pid: child for child in root.children(recursive=True)})
        except psutil.Error:
            continue
    return list(found.values())


def _signal(process: psutil.Process, how: str) -> None:
    try:
        getattr(process, how)()
    except psutil.NoSuchProcess:
        return
