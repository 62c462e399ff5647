"""What can keep a command from doing its work, each with its exit code.

ToolError
├── Misuse          2   wrong usage
├── NotFound        3   no such stack, run, pipeline or version
├── Conflict        4   it is not in a state for this
├── TryAgain        5   the same command may work later
└── Interrupted   130   by Ctrl-C
"""

from __future__ import annotations


class ToolError(Exception):
    """One clear line: what, where, and the remedy."""

    exit_code = 1


class Misuse(ToolError):
    """Wrong usage."""

    exit_code = 2


class NotFound(ToolError):
    """No such stack, run, pipeline or version."""

    exit_code = 3


class Conflict(ToolError):
    """It is not in a state for this."""

    exit_code = 4


class TryAgain(ToolError):
    """The same command may work later."""

    exit_code = 5


class Interrupted(ToolError):
    """Somebody pressed Ctrl-C; what stands now, and how to go on."""

    exit_code = 130
