"""Which exit code and which line an error becomes.

| code | |
|---|---|
| 0 | done, published or kept |
| 1 | failed |
| 2 | wrong usage |
| 3 | not found |
| 4 | conflict: not in a state for this |
| 5 | try again |
| 130 | interrupted by Ctrl-C |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import typer

OK, FAILED, USAGE, NOT_FOUND, CONFLICT, TRY_AGAIN, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
_WRONG_USAGE: Any = typer.BadParameter.__base__
"""Every way of calling a command wrongly; the library has no public name for it."""


class End(NamedTuple):
    """How the process ends that could not do its work."""

    code: int
    line: str

    @property
    def json(self) -> dict[str, Any]:
        """The same for programs."""
        return {"ok": False, "reason": self.line, "exit_code": self.code}


UNFORESEEN = End(FAILED, "a bug in relay: its traceback is on stderr")


def end_of(error: Exception) -> End | None:
    """The end that an expected error makes; None for one that nobody expected."""
    from relay.console.errors import ToolError

    if isinstance(error, ToolError):
        return End(error.exit_code, str(error))
    if isinstance(error, _WRONG_USAGE):
        return End(USAGE, error.format_message())
    return _of_relay(error) or _of_local_stack(error) or _of_aws(error) or _of_files(error)


def _of_relay(error: Exception) -> End | None:
    from contracts import errors

    codes: dict[type[Exception], int] = {
        errors.PipelineUnknown: NOT_FOUND,
        errors.RunNotOpen: CONFLICT,
        errors.PolicyConflict: CONFLICT,
        errors.FencedError: CONFLICT,
        errors.TransientError: TRY_AGAIN,
        errors.RelayError: FAILED,
    }
    found = next((code for kind, code in codes.items() if isinstance(error, kind)), None)
    return None if found is None else End(found, str(error))


def _of_local_stack(error: Exception) -> End | None:
    from relay.local.errors import LocalStackError, StackBusyError

    if isinstance(error, StackBusyError):
        return End(TRY_AGAIN, str(error))
    return End(FAILED, str(error)) if isinstance(error, LocalStackError) else None


def _of_aws(error: Exception) -> End | None:
    from botocore import exceptions as aws

    from relay.console.outages import is_outage

    if is_outage(error):
        return End(TRY_AGAIN, f"AWS does not answer: {error}")
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError):
        return End(USAGE, f"{error}: set up AWS credentials, or `relay local up`")
    if isinstance(error, aws.ProfileNotFound | aws.NoRegionError):
        return End(USAGE, str(error))
    expected = isinstance(error, aws.ClientError | aws.BotoCoreError)
    return End(FAILED, str(error)) if expected else None


def _of_files(error: Exception) -> End | None:
    if isinstance(error, FileNotFoundError):
        return End(NOT_FOUND, f"no such file: {error.filename}")
    return End(FAILED, str(error)) if isinstance(error, OSError) else None
