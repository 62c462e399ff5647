"""Whether a bearer token is one that EKS would take: a presigned STS request for this cluster.

The rules are aws-iam-authenticator's, plus ones that it leaves to chance: the cluster's name is
in a *signed* header (it can't be seen in the token, so it is proved by the signature), the link
is made for at most 60 seconds, and no parameter is there twice.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, urlsplit

PREFIX = "k8s-aws-v1."
CLUSTER_HEADER = "x-k8s-aws-id"
EXPIRES_MAX_S = 60
AGE_MAX = timedelta(minutes=15)
CLOCK_SKEW = timedelta(minutes=5)
LENGTH_MAX = 16 * 1024
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
_ALLOWED = {
    "action",
    "version",
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
}


class TokenRefused(Exception):
    """Why a token is no good; the caller only hears 401."""


@dataclass(frozen=True)
class Presigned:
    """The request inside a token."""

    token: str
    host: str
    path: str
    query: dict[str, str]

    @property
    def access_key(self) -> str:
        return self.query["X-Amz-Credential"].split("/")[0]

    @property
    def scope(self) -> str:
        return self.query["X-Amz-Credential"].partition("/")[2]


@dataclass(frozen=True)
class TokenCheck:
    """Checks tokens for one cluster.

    Attributes:
        cluster: name that must have been signed.
        region: whose STS host the token must name.
        secret_of: the secret of an access key, if it is known; then the signature is recomputed.
        now: the time.
    """

    cluster: str
    region: str
    secret_of: Callable[[str], str | None] = lambda _key: None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def check(self, authorization: str) -> Presigned:
        """Read an Authorization header.

        Raises:
            TokenRefused: EKS would answer 401.
        """
        presigned = read(authorization)
        query = presigned.query
        _check_where(presigned, self.region)
        _check_what(query)
        self._check_when(query)
        date, region, service, last = [*presigned.scope.split("/"), "", "", "", ""][:4]
        if (date, region, service, last) != (
            query["X-Amz-Date"][:8],
            self.region,
            "sts",
            "aws4_request",
        ):
            _refuse(f"credential scope {presigned.scope}")
        if not re.fullmatch(r"[A-Z0-9]{4,128}", presigned.access_key) and presigned.access_key:
            _refuse("the access key is malformed")
        self._check_signature(presigned)
        return presigned

    def _check_when(self, query: dict[str, str]) -> None:
        if not re.fullmatch(r"[0-9]{1,6}", query["X-Amz-Expires"]):
            _refuse("X-Amz-Expires is not a number")
        if not 0 < int(query["X-Amz-Expires"]) <= EXPIRES_MAX_S:
            _refuse(f"X-Amz-Expires {query['X-Amz-Expires']} is not within 1..{EXPIRES_MAX_S}")
        if not re.fullmatch(r"[0-9]{8}T[0-9]{6}Z", query["X-Amz-Date"]):
            _refuse("X-Amz-Date is malformed")
        made = datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        age = self.now() - made
        if age > AGE_MAX:
            _refuse(f"the token is {age} old")
        if age < -CLOCK_SKEW:
            _refuse(f"the token is from the future ({-age})")

    def _check_signature(self, presigned: Presigned) -> None:
        if not re.fullmatch(r"[0-9a-f]{64}", presigned.query["X-Amz-Signature"]):
            _refuse("the signature is not 64 hexadecimal digits")
        secret = self.secret_of(presigned.access_key)
        if secret is None:
            return
        expected = signature(presigned, self.cluster, secret)
        if not hmac.compare_digest(expected, presigned.query["X-Amz-Signature"]):
            _refuse("the signature does not match: wrong secret, or another cluster's name")


def read(authorization: str) -> Presigned:
    """The request inside a header, if it has the form of a token."""
    scheme, _, token = authorization.partition(" ")
    if scheme != "Bearer" or not token.startswith(PREFIX):
        _refuse(f"no bearer token that begins with {PREFIX}")
    encoded = token.removeprefix(PREFIX)
    if len(token) > LENGTH_MAX or not re.fullmatch(r"[A-Za-z0-9_-]+", encoded):
        _refuse("the token is not base64url without padding")
    try:
        url = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
        parts = urlsplit(url.decode("ascii"))
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
    except (binascii.Error, ValueError) as error:
        raise TokenRefused("the token holds no URL") from error
    if parts.scheme != "https" or parts.fragment:
        _refuse("the URL is not https")
    query = dict(pairs)
    if len(query) != len(pairs):
        _refuse("a parameter is there twice")
    return Presigned(token, parts.netloc, parts.path, query)


def _check_where(presigned: Presigned, region: str) -> None:
    if presigned.host != f"sts.{region}.amazonaws.com":
        _refuse(f"the host {presigned.host} is not the regional STS of {region}")
    if presigned.path != "/":
        _refuse(f"the path is {presigned.path!r}")


def _check_what(query: dict[str, str]) -> None:
    extra = sorted(name for name in query if name.lower() not in _ALLOWED)
    if extra:
        _refuse(f"unexpected parameters: {', '.join(extra)}")
    wanted = {
        "Action": "GetCallerIdentity",
        "Version": "2011-06-15",
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    }
    for name, value in wanted.items():
        if query.get(name) != value:
            _refuse(f"{name} is {query.get(name)!r}")
    needed = ("Credential", "Date", "Expires", "SignedHeaders", "Signature")
    missing = [name for name in needed if f"X-Amz-{name}" not in query]
    if missing:
        _refuse(f"missing: {', '.join(missing)}")
    signed = query["X-Amz-SignedHeaders"].split(";")
    if sorted(signed) != ["host", CLUSTER_HEADER]:
        _refuse(f"signed headers are {signed}, not host and {CLUSTER_HEADER}")


def signature(presigned: Presigned, cluster: str, secret: str) -> str:
    """The SigV4 signature that the request should have (AWS's "Create a signed request")."""
    query = {key: value for key, value in presigned.query.items() if key != "X-Amz-Signature"}
    canonical = "\n".join(
        [
            "GET",
            presigned.path,
            "&".join(f"{_quoted(key)}={_quoted(query[key])}" for key in sorted(query)),
            f"host:{presigned.host}",
            f"{CLUSTER_HEADER}:{cluster}",
            "",
            f"host;{CLUSTER_HEADER}",
            EMPTY_SHA256,
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", query["X-Amz-Date"], presigned.scope, digest])
    key = f"AWS4{secret}".encode()
    for part in presigned.scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")


def _refuse(why: str) -> None:
    raise TokenRefused(why)
