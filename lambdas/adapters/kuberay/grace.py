"""What lets a job save its state before its pods are killed, whoever deletes them.

Kueue and a drain delete pods without telling Ray, and Ray itself kills a driver after three
seconds. So the head's pod asks the driver to end before its own processes are told, and all pods
stay while the job still saves: driver and work answer SIGTERM with a checkpoint within their grace.
"""

from __future__ import annotations

import shlex
from typing import Any

SAVING_S = 30
"""The job's own grace of 20 s, its last resort 5 s later, and a little."""
TERMINATION_GRACE_S = SAVING_S + 20
RAY_STOP_WAIT = {"name": "RAY_JOB_STOP_WAIT_TIME_S", "value": str(SAVING_S)}
"""How long Ray waits between SIGTERM and SIGKILL when it is asked to stop a job."""

# The patterns match a process's command, never the command of the shell that looks for it.
_DRIVER = "job[.]json"
_COMMANDS = "/proc/[0-9]*/cmdline"


def before_head_stops() -> dict[str, Any]:
    """The head's life cycle: the driver is asked to end, and waited for."""
    tell = (
        f"for file in $(grep -lsa '{_DRIVER}' {_COMMANDS}); do "
        'pid="${file%/cmdline}"; kill -TERM "${pid##*/}"; done'
    )
    return _before_stop(f"{tell}; {_wait_for(_DRIVER)}")


def before_worker_stops(job: str, mark: str) -> dict[str, Any]:
    """A worker's life cycle: the job's work is asked to save by its mark, and waited for.

    Args:
        job: its name, which Ray gives the work's process.
        mark: path of the file that the work looks for.
    """
    return _before_stop(f"touch {shlex.quote(mark)}; {_wait_for(f'[r]ay::{job}')}")


def _wait_for(pattern: str) -> str:
    gone = f"grep -qsa '{pattern}' {_COMMANDS} || exit 0"
    return f"for second in $(seq {SAVING_S}); do {gone}; sleep 1; done"


def _before_stop(script: str) -> dict[str, Any]:
    return {"preStop": {"exec": {"command": ["/bin/bash", "-c", script]}}}
