"""Tokens as boto's own signer makes them, to hold the checks here against, and for kubectl."""

from __future__ import annotations

import base64

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from fakes.kube_api.token_check import CLUSTER_HEADER, PREFIX

KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "not-a-secret-of-anyone"


def sign(
    cluster: str,
    *,
    key: str = KEY,
    secret: str = SECRET,
    session_token: str | None = None,
    region: str = "us-east-1",
    expires_s: int = 60,
    host: str = "",
    action: str = "GetCallerIdentity",
    header: str = CLUSTER_HEADER,
) -> str:
    """A bearer token for a cluster; the other arguments make bad ones."""
    host = host or f"sts.{region}.amazonaws.com"
    url = f"https://{host}/?Action={action}&Version=2011-06-15"
    request = AWSRequest("GET", url, headers={header: cluster})
    credentials = Credentials(key, secret, session_token)
    SigV4QueryAuth(credentials, "sts", region, expires=expires_s).add_auth(request)
    return encode(str(request.url))


def encode(url: str) -> str:
    return PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
