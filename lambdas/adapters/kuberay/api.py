"""HTTPS to a cluster's API: who we are, what is tried again, and what its refusals mean."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError, SSLError

from contracts.errors import ClusterRefused, JobInvalid, ServiceUnavailable
from lambdas.adapters.kuberay.endpoint import ClusterEndpoint, Endpoint
from lambdas.adapters.kuberay.token import ClusterToken
from lambdas.adapters.kuberay.trying import Patience
from lambdas.adapters.kuberay.words import plain

_TIMEOUT = urllib3.Timeout(connect=3.0, read=6.0)
_MESSAGE_MAX = 500
_QUOTA = "exceeded quota"
"""A namespace's quota answers 403, as a lacking right does, but it passes."""
_ACCESS = (
    "give this function's role an access entry of type STANDARD on cluster {cluster}, with a "
    "policy that covers its namespace (AmazonSagemakerHyperpodTrainingPolicy), or a group that a "
    "Role there is bound to"
)


class Answer(NamedTuple):
    """A response that is no trouble: 2xx, 404 or 409."""

    status: int
    body: bytes

    def json(self) -> dict[str, Any]:
        """The object in it.

        Raises:
            ServiceUnavailable: it is none, as from a proxy on the way.
        """
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise ServiceUnavailable("the cluster's API answered with no JSON") from error
        if not isinstance(value, dict):
            raise ServiceUnavailable("the cluster's API answered with no object")
        return value


class _Request(NamedTuple):
    method: str
    target: str
    body: bytes | None
    accept: str


class _Trouble(NamedTuple):
    """What may pass, and how long the API asks to wait."""

    what: str
    asked_wait_s: float = 0.0


class KubeApi:
    """Calls of one cluster's API; a repeated call must do no harm."""

    def __init__(
        self, endpoint: ClusterEndpoint, token: ClusterToken, patience: Patience | None = None
    ) -> None:
        self._endpoint = endpoint
        self._token = token
        self._patience = patience or Patience()
        self._pool: tuple[Endpoint, urllib3.PoolManager] | None = None

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: object = None,
        accept: str = "application/json",
        once: bool = False,
    ) -> Answer:
        """Make a call, and again while its trouble may pass.

        Args:
            method: of HTTP.
            path: below the endpoint.
            query: parameters.
            body: an object to send as JSON.
            accept: which forms of an answer are taken.
            once: for what nobody depends on, and what trouble of a node's own may answer: it is
                not tried again, and its trouble says nothing of the API.

        Raises:
            ClusterRefused: this role may not, or is not known.
            JobInvalid: the API does not take the object.
            ServiceUnavailable: it was throttled, failed or unreachable to the end.
        """
        patience = self._patience
        if patience.rests:
            raise ServiceUnavailable("the cluster's API did not answer a moment ago")
        request = _Request(
            method,
            f"{path}?{urlencode(query)}" if query else path,
            None if body is None else json.dumps(body).encode(),
            accept,
        )
        started_at = patience.now()
        for tries in count(1):
            found = self._try(request)
            if isinstance(found, Answer):
                return found
            if once or not patience.wait(tries, started_at, found.asked_wait_s):
                if not once:
                    patience.give_up()
                raise ServiceUnavailable(f"{method} {path}: {found.what}"[:_MESSAGE_MAX])
        raise AssertionError("count() has no end")

    def _try(self, request: _Request) -> Answer | _Trouble:
        try:
            response = self._send(request)
            if response.status == HTTPStatus.UNAUTHORIZED:
                self._forget()
                response = self._send(request)
        except HTTPError as error:
            if isinstance(error, SSLError):
                self._forget()
            return _Trouble(f"{type(error).__name__}: {error}")
        if _is_trouble(response.status):
            said = f"{response.status} {_message(response)}"
            return _Trouble(said, _asked_wait(response))
        return self._read(response, f"{request.method} {request.target}")

    def _send(self, request: _Request) -> urllib3.BaseHTTPResponse:
        endpoint = self._where()
        headers = {"Authorization": f"Bearer {self._token.value()}", "Accept": request.accept}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        return self._connections(endpoint).request(
            request.method,
            endpoint.url + request.target,
            body=request.body,
            headers=headers,
            timeout=_TIMEOUT,
            retries=False,
            redirect=False,
        )

    def _where(self) -> Endpoint:
        """The endpoint; an EKS that does not tell it is left in peace, too."""
        try:
            return self._endpoint.get()
        except ServiceUnavailable:
            self._patience.give_up()
            raise

    def _connections(self, endpoint: Endpoint) -> urllib3.PoolManager:
        if self._pool is None or self._pool[0] != endpoint:
            pool = urllib3.PoolManager(num_pools=1, ssl_context=_trust(endpoint.authority))
            self._pool = (endpoint, pool)
        return self._pool[1]

    def _forget(self) -> None:
        self._token.renew()
        self._endpoint.renew()

    def _read(self, response: urllib3.BaseHTTPResponse, what: str) -> Answer:
        status, said = response.status, _message(response)
        if status == HTTPStatus.UNAUTHORIZED or (
            status == HTTPStatus.FORBIDDEN and _QUOTA not in said
        ):
            remedy = _ACCESS.format(cluster=self._endpoint.cluster)
            raise ClusterRefused(f"{what}: {status} {said}; {remedy}")
        if status == HTTPStatus.FORBIDDEN:
            raise ServiceUnavailable(f"{what}: waiting for quota: {said}")
        if status in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT} or status < HTTPStatus.BAD_REQUEST:
            return Answer(status, response.data)
        raise JobInvalid(f"{what}: {status} {said}")


def _trust(authority: str) -> ssl.SSLContext:
    """Trust the cluster's own authority alone.

    From Python 3.13 on, verification is strict by default and refuses the authorities that EKS
    makes, which have no key identifiers; chain, dates and host name are checked all the same.
    """
    context = ssl.create_default_context(cadata=authority)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _is_trouble(status: int) -> bool:
    return status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _asked_wait(response: urllib3.BaseHTTPResponse) -> float:
    """Seconds of Retry-After; the API gives no dates there."""
    asked = response.headers.get("Retry-After", "")
    return float(asked) if asked.isascii() and asked.isdigit() else 0.0


def _message(response: urllib3.BaseHTTPResponse) -> str:
    """The message of a Status object, or what there is instead."""
    if response.status < HTTPStatus.BAD_REQUEST:
        return ""
    text: str = response.data.decode("utf-8", "replace")
    with suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["message"])
    return plain(text)[:_MESSAGE_MAX]
