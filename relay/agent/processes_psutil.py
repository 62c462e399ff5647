"""The processes of a job on this machine, found by what they were started with."""

from __future__ import annotations

import os
from collections.abc import Sequence

import psutil

_SETTLE_S = 1.0


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
        _, left = psutil.wait_procs(found, timeout=grace_s)
        for process in {*left, *_with_descendants(_marked(marks))}:
            _signal(process, "kill")
        psutil.wait_procs(left, timeout=_SETTLE_S)
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
