"""Service errors that may pass become ours; the others keep their own words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from contracts.errors import ServiceUnavailable

_THROTTLED = frozenset(
    {
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestLimitExceeded",
        "ProvisionedThroughputExceededException",
        "TransactionConflictException",
        "TransactionInProgressException",
        "TooManyRequestsException",
        "SlowDown",
        "RequestTimeout",
        "ConditionalRequestConflict",
        "InternalServerError",
        "InternalError",
        "ServiceUnavailable",
    }
)
_SERVER_FAULT = 500


_CANCELLED = "TransactionCanceledException"
_PASSING = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "None"}
)


def code_of(error: ClientError) -> str:
    """The service's error code."""
    return str(error.response.get("Error", {}).get("Code", ""))


def cancellation_reasons(error: ClientError) -> list[str]:
    """Why each part of a cancelled transaction was refused, "None" where it was not."""
    reasons = error.response.get("CancellationReasons", [])
    return [str(reason.get("Code", "None")) for reason in reasons]


def may_pass(error: ClientError) -> bool:
    """Whether the same call may succeed later."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code_of(error) == _CANCELLED:
        return set(cancellation_reasons(error)) <= _PASSING
    return code_of(error) in _THROTTLED or status >= _SERVER_FAULT


@contextmanager
def typed_service_errors() -> Iterator[None]:
    """Raise `ServiceUnavailable` for throttling, conflicts, faults and lost connections."""
    try:
        yield
    except ClientError as error:
        if may_pass(error):
            raise ServiceUnavailable(str(error)) from error
        raise
    except BotoCoreError as error:
        raise ServiceUnavailable(str(error)) from error
