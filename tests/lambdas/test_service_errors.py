"""What passes is told from what stays."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from contracts.errors import ContractBroken, ServiceUnavailable
from lambdas.adapters.service_errors import typed_service_errors


def client_error(code: str, status: int = 400, reasons: list[str] | None = None) -> ClientError:
    response = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    if reasons is not None:
        response["CancellationReasons"] = [{"Code": reason} for reason in reasons]  # type: ignore[assignment]
    return ClientError(response, "DoIt")  # type: ignore[arg-type]


PASSING = [
    client_error("ThrottlingException"),
    client_error("ProvisionedThroughputExceededException"),
    client_error("TransactionConflictException"),
    client_error("SlowDown", 503),
    client_error("AnythingAtAll", 500),
    client_error("TransactionCanceledException", reasons=["None", "TransactionConflict"]),
    client_error("TransactionCanceledException", reasons=["ThrottlingError", "None"]),
    EndpointConnectionError(endpoint_url="https://x"),
    ReadTimeoutError(endpoint_url="https://x"),
]
STAYING = [
    client_error("AccessDeniedException"),
    client_error("ValidationException"),
    client_error("TransactionCanceledException", reasons=["ValidationError", "None"]),
    client_error(
        "TransactionCanceledException", reasons=["TransactionConflict", "ValidationError"]
    ),
]


@pytest.mark.parametrize("error", PASSING, ids=str)
def test_what_may_pass_becomes_ours_and_is_tried_again(error: Exception) -> None:
    with pytest.raises(ServiceUnavailable) as raised, typed_service_errors():
        raise error
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("error", STAYING, ids=str)
def test_what_stays_keeps_its_own_words(error: Exception) -> None:
    with pytest.raises(ClientError) as raised, typed_service_errors():
        raise error
    assert raised.value is error


def test_our_own_errors_stay_what_they_are() -> None:
    with pytest.raises(ContractBroken), typed_service_errors():
        raise ContractBroken("x")
