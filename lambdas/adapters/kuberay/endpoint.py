"""Where the cluster's API is, and by which authority it is known."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from contracts.errors import ClusterRefused, ServiceUnavailable
from lambdas.adapters.service_errors import code_of, may_pass

if TYPE_CHECKING:
    from botocore.client import BaseClient


class Endpoint(NamedTuple):
    """The API's address, and its authority's certificates in PEM."""

    url: str
    authority: str


class ClusterEndpoint:
    """What EKS says of one cluster, asked once a container."""

    def __init__(self, eks: BaseClient, cluster: str) -> None:
        self._eks = eks
        self.cluster = cluster
        self._found: Endpoint | None = None

    def get(self) -> Endpoint:
        """The endpoint.

        Raises:
            ClusterRefused: there is no such cluster, or the role may not see it.
            ServiceUnavailable: EKS does not answer, or the cluster has no endpoint yet.
        """
        if self._found is None:
            self._found = self._ask()
        return self._found

    def renew(self) -> None:
        """Ask again next time: a cluster made anew has another authority."""
        self._found = None

    def _ask(self) -> Endpoint:
        try:
            found = self._eks.describe_cluster(name=self.cluster)["cluster"]
        except ClientError as error:
            if may_pass(error):
                raise ServiceUnavailable(str(error)) from error
            remedy = "is the name right, and may the role call eks:DescribeCluster?"
            raise ClusterRefused(f"{self.cluster}: {code_of(error)}: {error}; {remedy}") from error
        except BotoCoreError as error:
            raise ServiceUnavailable(str(error)) from error
        url, authority = found.get("endpoint"), found.get("certificateAuthority", {}).get("data")
        if not url or not authority:
            raise ServiceUnavailable(
                f"cluster {self.cluster} is {found.get('status', 'not ready')}, without an endpoint"
            )
        return Endpoint(url.rstrip("/"), base64.b64decode(authority).decode("ascii"))
