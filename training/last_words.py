"""What a failed job says of itself."""

from __future__ import annotations

import traceback

from contracts.errors import JobCrashed, RelayError
from contracts.limits import CAUSE_MAX
from contracts.result import Failure


def failure_of(error: Exception) -> Failure:
    """Name an error for the state machine, with its cause in one line.

    Ours keep their class; any other is a `JobCrashed` that says where it was raised.
    """
    if isinstance(error, RelayError):
        return Failure(error=type(error).__name__, cause=_line(str(error)))
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return Failure(
        error=JobCrashed.__name__,
        cause=_line(f"{type(error).__name__}{where}: {error}; the job's log has the traceback"),
    )


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CAUSE_MAX else line[: CAUSE_MAX - 1] + "…"
