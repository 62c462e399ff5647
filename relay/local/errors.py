"""What can go wrong with the local stack, each with what to do about it."""

import shutil
from pathlib import Path

_ENOUGH_BYTES = 500 * 1024**2
"""An app's synthesis and a fresh stack take less."""


class LocalStackError(Exception):
    """Anything that keeps the local stack from working."""


class StackBusyError(LocalStackError):
    """Another command is bringing the same stack up or down."""

    def __init__(self, root: Path) -> None:
        super().__init__(f"Another command is at work on the local stack in {root}; try again")


class DamagedStateError(LocalStackError):
    """A file of the state folder can't be read."""

    def __init__(self, path: Path, remedy: str) -> None:
        super().__init__(f"{path} is damaged: {remedy}")


class PortTakenError(LocalStackError):
    """A port of this stack is used by something else."""

    def __init__(self, port: int, root: Path) -> None:
        super().__init__(
            f"Port {port} is taken by another program, and the stack in {root} is tied to it; "
            "end that program, or remove the folder to start afresh"
        )


class NotReadyError(LocalStackError):
    """A process ended, or did not answer in time."""

    def __init__(self, name: str, waited_s: float, log: Path) -> None:
        super().__init__(
            f"{name} was not ready after {waited_s:.0f} s{_room(log)}; see {log}\n{tail(log)}"
        )


class GivenUpError(LocalStackError):
    """The stack is being ended, as something else failed or it was interrupted."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} was not started: the stack that it belongs to is being ended")


class DeploymentError(LocalStackError):
    """The CDK CLI failed."""

    def __init__(self, step: str, log: Path) -> None:
        super().__init__(f"{step} failed{_room(log)}; see {log}\n{tail(log)}")


def _room(log: Path) -> str:
    """What to do about a disk that is nearly full; nothing when it is not."""
    free = shutil.disk_usage(log.parent).free if log.parent.exists() else _ENOUGH_BYTES
    if free >= _ENOUGH_BYTES:
        return ""
    return f", with only {free // 1024**2} MiB free in {log.parent}: make room and try again"


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log, or nothing."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""
