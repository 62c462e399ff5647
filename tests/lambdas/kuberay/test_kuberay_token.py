"""A cluster's token: a signed link to STS, made anew by its age."""

from __future__ import annotations

import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from fakes.clock import FakeClock
from kuberay.signed import token

from lambdas.adapters.kuberay.token import MAX_AGE


def link_in(value: str) -> str:
    assert value.startswith("k8s-aws-v1.")
    assert "=" not in value
    rest = value.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4)).decode()


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-west-1", "sts.eu-west-1.amazonaws.com"),
        ("us-east-1", "sts.us-east-1.amazonaws.com"),
        ("us-gov-west-1", "sts.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "sts.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_a_token_is_a_signed_link_to_the_regions_sts(
    clock: FakeClock, region: str, host: str
) -> None:
    link = urlsplit(link_in(token(clock, region).value()))
    query = parse_qs(link.query)
    assert (link.scheme, link.netloc) == ("https", host)
    assert query["Action"] == ["GetCallerIdentity"]
    assert query["X-Amz-Expires"] == ["60"]
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]
    assert query["X-Amz-Security-Token"] == ["session"]
    assert f"/{region}/sts/aws4_request" in query["X-Amz-Credential"][0]


def test_a_token_is_made_anew_by_its_age(clock: FakeClock) -> None:
    made = token(clock)
    signed: list[str] = []
    make = made._make
    made._make = lambda: signed.append(make()) or signed[-1]  # type: ignore[func-returns-value, method-assign]
    first = made.value()
    clock.advance((MAX_AGE - timedelta(seconds=1)).total_seconds())
    assert made.value() == first
    assert len(signed) == 1
    clock.advance(2)
    made.value()
    assert len(signed) == 2
    made.renew()
    made.value()
    assert len(signed) == 3
    assert timedelta(minutes=15) > MAX_AGE
