"""The token that EKS knows a role by: a presigned STS request, good for 15 minutes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.model import ServiceId
from botocore.signers import RequestSigner

if TYPE_CHECKING:
    import boto3

PREFIX = "k8s-aws-v1."
CLUSTER_HEADER = "x-k8s-aws-id"
EXPIRES_S = 60
"""What EKS asks of the link; the token itself is taken for 15 minutes from its date."""
MAX_AGE = timedelta(minutes=10)
_SUFFIXES = {"aws-cn": "amazonaws.com.cn"}


class ClusterToken:
    """A bearer token for one cluster, made anew when it is ten minutes old."""

    def __init__(
        self,
        session: boto3.Session,
        region: str,
        cluster: str,
        now: Callable[[], datetime],
    ) -> None:
        """Sign with a session's credentials.

        Args:
            session: of the role that the cluster's access entry names.
            region: the cluster's; its STS is what the cluster asks.
            cluster: name of the EKS cluster.
            now: the time; a clock that stands still while a container is frozen will not do.
        """
        self._session = session
        self._region = region
        self._cluster = cluster
        self._now = now
        self._made_at: datetime | None = None
        self._value = ""

    def value(self) -> str:
        """The token; signing it makes no call."""
        now = self._now()
        if self._made_at is None or now - self._made_at >= MAX_AGE:
            self._value, self._made_at = self._make(), now
        return self._value

    def renew(self) -> None:
        """Have the next one made anew."""
        self._made_at = None

    def _make(self) -> str:
        signer = RequestSigner(
            ServiceId("sts"),
            self._region,
            "sts",
            "v4",
            self._session.get_credentials(),
            self._session.events,
        )
        suffix = _SUFFIXES.get(
            self._session.get_partition_for_region(self._region), "amazonaws.com"
        )
        link: str = signer.generate_presigned_url(
            {
                "method": "GET",
                "url": f"https://sts.{self._region}.{suffix}/"
                "?Action=GetCallerIdentity&Version=2011-06-15",
                "body": {},
                "headers": {CLUSTER_HEADER: self._cluster},
                "context": {},
            },
            operation_name="",
            expires_in=EXPIRES_S,
        )
        return PREFIX + base64.urlsafe_b64encode(link.encode()).rstrip(b"=").decode()
