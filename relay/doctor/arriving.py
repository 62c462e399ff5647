"""From a command line's wish to an examination."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime

import boto3
from botocore.config import Config

from lambdas.adapters.kuberay.api import KubeApi
from lambdas.adapters.kuberay.endpoint import ClusterEndpoint
from lambdas.adapters.kuberay.token import ClusterToken
from relay.console.aws_session import aws_session
from relay.console.errors import NotFound
from relay.console.locating import Wish, adopt, local_root, local_up, locate
from relay.doctor.examination import Examination
from relay.doctor.reading import AwsReading, Kubernetes, KubernetesReading
from relay.local.places import LocalPlaces
from relay.local.stack import status

_CONFIG = Config(connect_timeout=5, read_timeout=20)


def _now() -> datetime:
    return datetime.now(UTC)


def arrive(wish: Wish, talk: Callable[[str], None]) -> Examination:
    """Find the account; what is there is looked at later.

    Raises:
        NotFound: no region is set, so there is no account to look at.
    """
    elsewhere = wish.aws or wish.profile or os.environ.get("AWS_ENDPOINT_URL")
    location = locate(wish, os.environ, None if elsewhere else local_up(local_root()))
    if location.local is not None:
        adopt(location.local)
    session = aws_session(location.profile)
    if not session.region_name:
        raise NotFound("no AWS region is set: set AWS_REGION or --profile, or `relay local up`")
    talk(f"looking at {location.words}")
    return Examination(
        AwsReading(session),
        location.stack,
        region=session.region_name,
        now=_now,
        connect=lambda cluster: _kubernetes(session, cluster),
        processes=None if location.local is None else status(LocalPlaces(location.local)),
    )


def _kubernetes(session: boto3.Session, cluster: str) -> Kubernetes:
    endpoint = ClusterEndpoint(session.client("eks", config=_CONFIG), cluster)
    token = ClusterToken(session, str(session.region_name), cluster, _now)
    return KubernetesReading(KubeApi(endpoint, token), cluster)
