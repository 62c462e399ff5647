"""Tokens signed with keys that are known."""

from __future__ import annotations

import boto3
from fakes.clock import FakeClock

from lambdas.adapters.kuberay.token import ClusterToken


def session() -> boto3.Session:
    return boto3.Session(
        aws_access_key_id="AKID",
        aws_secret_access_key="s",
        aws_session_token="session",
        region_name="eu-west-1",
    )


def token(clock: FakeClock, region: str = "eu-west-1") -> ClusterToken:
    return ClusterToken(session(), region, "team", clock.now)
