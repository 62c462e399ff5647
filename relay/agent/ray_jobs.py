"""Ray's Jobs API over HTTP on loopback, without importing Ray."""

from __future__ import annotations

import http.client
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from contracts.errors import ServiceUnavailable
from relay.agent.ports import JobLook, RayState, Room

_TIMEOUT_S = 5.0
_START_TIMEOUT_S = 30.0
"""Ray answers a submission once the job's supervisor is made."""
_RAYS_OWN = ("Running entrypoint for job", "Job entrypoint command failed")
"""What Ray adds to a job's output; all else are the job's own words."""
_STATES: dict[str, RayState] = {
    "PENDING": "PENDING",
    "RUNNING": "RUNNING",
    "SUCCEEDED": "SUCCEEDED",
    "FAILED": "FAILED",
    "STOPPED": "STOPPED",
}


class RayJobs:
    """`Jobs` over the REST API of a Ray head."""

    def __init__(self, address: str, token: str | None = None) -> None:
        """Speak to `http://host:port`; `token` goes along as a bearer token."""
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.hostname or not parts.port:
            raise ValueError(f"{address!r} is not http://host:port")
        self._host, self._port = parts.hostname, parts.port
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Make sure that the job exists; see `Jobs.start`."""
        if self.look(name).state not in {"ABSENT", "UNREACHABLE"}:
            return
        body = {
            "submission_id": name,
            "entrypoint": shlex.join(command),
            "runtime_env": {"env_vars": dict(environment)},
        }
        try:
            status, answer = self._call("POST", "/api/jobs/", body, _START_TIMEOUT_S)
        except (OSError, http.client.HTTPException) as error:
            raise ServiceUnavailable(f"Ray did not take job {name}: {error}") from error
        if status == http.HTTPStatus.OK or self.look(name).state in _STATES:
            return
        raise ServiceUnavailable(f"Ray did not take job {name}: {status} {_last_line(answer)}")

    def look(self, name: str) -> JobLook:
        """See how the job is."""
        try:
            status, answer = self._call("GET", self._path(name))
            if status == http.HTTPStatus.NOT_FOUND:
                return JobLook("ABSENT")
            details = json.loads(answer) if status == http.HTTPStatus.OK else {}
        except (OSError, http.client.HTTPException, ValueError):
            return JobLook("UNREACHABLE")
        state = _STATES.get(details.get("status", ""))
        if state is None:
            return JobLook("UNREACHABLE")
        message = _last_line(details.get("message") or "")
        return JobLook(state, details.get("driver_exit_code"), message)

    def stop(self, name: str) -> None:
        """Ask Ray to end the job; whether it did shows in the next look."""
        try:
            self._call("POST", f"{self._path(name)}/stop")
        except (OSError, http.client.HTTPException):
            return

    def reachable(self) -> bool:
        """Whether the Jobs API answers now."""
        try:
            status, _ = self._call("GET", "/api/version")
        except (OSError, http.client.HTTPException):
            return False
        return status == http.HTTPStatus.OK

    def room(self) -> Room | None:
        """What Ray's living nodes have, as its state API tells."""
        try:
            status, answer = self._call("GET", "/api/v0/nodes")
            if status != http.HTTPStatus.OK:
                return None
            nodes = json.loads(answer)["data"]["result"]["result"]
            there = [node["resources_total"] for node in nodes if node["state"] == "ALIVE"]
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
            return None
        cpus, gpus = (sum(one.get(kind, 0) for one in there) for kind in ("CPU", "GPU"))
        return Room(cpus, gpus) if there else None

    @staticmethod
    def _path(name: str) -> str:
        return f"/api/jobs/{quote(name, safe='')}"

    def _call(
        self, method: str, path: str, body: object = None, timeout_s: float = _TIMEOUT_S
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, body=data, headers=self._headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()


def ray_token(environ: Mapping[str, str] = os.environ) -> str | None:
    """Ray's token, where Ray itself looks for it; None when there is none."""
    if token := environ.get("RAY_AUTH_TOKEN"):
        return token
    path = environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(path) if path else Path.home() / ".ray" / "auth_token"
    return file.read_text().strip() or None if file.is_file() else None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(_RAYS_OWN)]
    return said[-1] if said else ""
