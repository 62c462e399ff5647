"""The one place where an account and its cluster are asked: reads, and nothing but reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from contracts.errors import RelayError
from lambdas.adapters.kuberay.api import KubeApi
from relay.doctor.answers import Answer, Missing, Unanswered

_READS = re.compile(r"(get|list|describe)_[a-z_]+")
_ABSENT = re.compile(r"NotFound|NoSuch|DoesNotExist|NonExistent|^ValidationError$|^404$")
_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 3}, connect_timeout=5, read_timeout=20
)
PAGES_MAX = 20


class Aws(Protocol):
    """Questions to AWS."""

    def ask(self, service: str, operation: str, region: str = "", **parameters: Any) -> Answer:  # noqa: ANN401
        """Call an operation by its name in boto3."""

    def ask_all(self, service: str, operation: str, key: str, **parameters: Any) -> Answer:  # noqa: ANN401
        """Call an operation page by page: `{key: everything}`."""


class Kubernetes(Protocol):
    """Questions to a cluster's API."""

    def get(self, path: str, **query: str) -> Answer:
        """Read what is at a path."""


class AwsReading:
    """Asks by a session of boto3.

    An operation that could change anything is refused here, before any call.
    """

    def __init__(self, session: boto3.Session) -> None:
        self._session = session
        self._clients: dict[tuple[str, str], Any] = {}

    def ask(self, service: str, operation: str, region: str = "", **parameters: Any) -> Answer:  # noqa: ANN401
        """See `Aws.ask`."""
        _refuse_changes(operation)
        try:
            answer: Mapping[str, Any] = getattr(self._client(service, region), operation)(
                **parameters
            )
        except (ClientError, BotoCoreError) as error:
            return _no(service, operation, error)
        return answer

    def ask_all(self, service: str, operation: str, key: str, **parameters: Any) -> Answer:  # noqa: ANN401
        """See `Aws.ask_all`; at most `PAGES_MAX` pages."""
        _refuse_changes(operation)
        found: list[Any] = []
        try:
            pages = self._client(service, "").get_paginator(operation).paginate(**parameters)
            for _, page in zip(range(PAGES_MAX), pages, strict=False):
                found += page.get(key, [])
        except (ClientError, BotoCoreError) as error:
            return _no(service, operation, error)
        return {key: found}

    def _client(self, service: str, region: str) -> Any:  # noqa: ANN401 - boto3 is untyped
        where = (service, region)
        if where not in self._clients:
            self._clients[where] = self._session.client(
                service, config=_CONFIG, region_name=region or None
            )
        return self._clients[where]


class KubernetesReading:
    """Asks by the runner's own client, as whoever runs the command."""

    def __init__(self, api: KubeApi, cluster: str) -> None:
        self._api = api
        self._remedy = (
            f"look from where the API of {cluster} is reachable, as someone whom an access entry "
            "lets read (AmazonEKSAdminViewPolicy)"
        )

    def get(self, path: str, **query: str) -> Answer:
        """See `Kubernetes.get`."""
        try:
            answer = self._api.call("GET", path, query=query or None)
            if answer.status == HTTPStatus.NOT_FOUND:
                return Missing(f"there is no {path}")
            return answer.json()
        except RelayError as error:
            # The runner's remedy is about its own role, not about who asks here.
            return Unanswered(str(error).partition("; give ")[0], self._remedy)


class NoKubernetes:
    """Nobody to ask, as the cluster itself can't be seen."""

    def get(self, path: str, **_: str) -> Answer:
        """Say so."""
        return Unanswered(f"{path} was not looked at", "mend what is said of the EKS cluster first")


def _refuse_changes(operation: str) -> None:
    if not _READS.fullmatch(operation):
        raise ValueError(f"{operation} is not a read, and the doctor only reads")


def _no(service: str, operation: str, error: Exception) -> Answer:
    call = f"{service}:{operation}"
    if not isinstance(error, ClientError):
        return Unanswered(f"{call}: {error}", "try again, from where AWS is reachable")
    said = error.response.get("Error", {})
    words = " ".join(f"{said.get('Code', '')}: {said.get('Message', '')}".split())
    if _ABSENT.search(str(said.get("Code", ""))):
        return Missing(f"{call} says {words}")
    return Unanswered(f"{call} says {words}", f"let whoever runs the doctor call {call}")
