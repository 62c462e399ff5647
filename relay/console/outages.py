"""Telling a service that is away or overloaded from one that says no."""

from __future__ import annotations

from botocore import exceptions as aws

_OVERLOADED = {
    "ThrottlingException",
    "Throttling",
    "TooManyRequestsException",
    "RequestLimitExceeded",
    "ProvisionedThroughputExceededException",
    "SlowDown",
}
_SERVER_FAULT = 500


def is_outage(error: Exception) -> bool:
    """Whether the same call may succeed later."""
    if isinstance(error, aws.HTTPClientError | aws.ConnectionError):
        return True
    if not isinstance(error, aws.ClientError):
        return False
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= _SERVER_FAULT or error.response["Error"].get("Code", "") in _OVERLOADED
