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
        "InternalServerError",
        "InternalError",
        "ServiceUnavailable",
    }
)
_SERVER_FAULT = 500


def code_of(error: ClientError) -> str:
    """The service's error code."""
    return str(error.response.get("Error", {}).get("Code", ""))


@contextmanager
def typed_service_errors() -> Iterator[None]:
    """Raise `ServiceUnavailable` for throttling, faults and lost connections."""
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code_of(error) in _THROTTLED or status >= _SERVER_FAULT:
            raise ServiceUnavailable(str(error)) from error
        raise
    except BotoCoreError as error:
        raise ServiceUnavailable(str(error)) from error
