"""What can go wrong with the local stack, each with what to do about it."""

from pathlib import Path


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
        super().__init__(f"{name} was not ready after {waited_s:.0f} s; see {log}\n{tail(log)}")


class DeploymentError(LocalStackError):
    """The CDK CLI failed."""

    def __init__(self, step: str, log: Path) -> None:
        super().__init__(f"{step} failed; see {log}\n{tail(log)}")


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log, or nothing."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""
