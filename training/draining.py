"""`python -m training.draining`: a pod's last act, so that a job saves its state before Ray goes.

When a pod is deleted, as by Kueue's preemption or a node's drain, Kubernetes signals the
container's first process only, which is Ray, and Ray kills jobs without asking. As a `preStop`
hook of every container this asks the drivers here by SIGTERM, and waits, on their machine and on
the work's, until both have ended. It needs a `terminationGracePeriodSeconds` above `LIMIT_S`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

LIMIT_S = 30.0
"""More than a stop's grace and last resort together (`training/stopping.py`)."""
_LOOK_EVERY_S = 0.2
_DRIVER = ("-m", "training", "--job")
_WORK = "ray::r"
"""Ray names a worker after its task, and our tasks bear their job's name."""


class Busy(NamedTuple):
    """Processes that have something to save."""

    drivers: frozenset[int]
    work: frozenset[int]


def busy(proc: Path = Path("/proc")) -> Busy:
    """Who is at work on this machine."""
    found = list(_command_lines(proc))
    return Busy(
        frozenset(pid for pid, words in found if _is_driver(words)),
        frozenset(pid for pid, words in found if _is_work(words)),
    )


def drain(look: Callable[[], Busy] = busy, limit_s: float = LIMIT_S) -> Busy:
    """Ask every driver once, and wait until nobody is at work.

    Returns:
        Who still was when the time was over.
    """
    give_up_at = time.monotonic() + limit_s
    asked: set[int] = set()
    while True:
        there = look()
        for pid in there.drivers - asked:
            _ask(pid)
        asked |= there.drivers
        if there == Busy(frozenset(), frozenset()) or time.monotonic() > give_up_at:
            return there
        time.sleep(_LOOK_EVERY_S)


def _ask(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return


def _command_lines(proc: Path) -> Iterator[tuple[int, list[str]]]:
    for folder in proc.iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:  # It has ended meanwhile.
                continue
            yield int(folder.name), line.decode(errors="replace").split("\0")


def _is_driver(words: list[str]) -> bool:
    return any(tuple(words[at : at + 3]) == _DRIVER for at in range(len(words)))


def _is_work(words: list[str]) -> bool:
    title = words[0].strip()
    return title.startswith(_WORK) and title[len(_WORK) :][:1].isdigit()


def main() -> int:
    """Drain this machine; 0 when everybody was done in time."""
    left = drain()
    if any(left):
        sys.stderr.write(f"still at work after {LIMIT_S:g} s: {sorted(left.drivers | left.work)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
