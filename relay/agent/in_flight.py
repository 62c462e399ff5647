"""The jobs that this agent has begun: a file that outlives it."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

from pydantic import AwareDatetime, Field

from contracts.job import JobSpec
from contracts.model import Contract, Stored
from relay.agent.decisions import Stage


class Begun(Contract):
    """One job and how far this agent has gone with it."""

    spec: JobSpec
    stage: Stage
    since: AwareDatetime


class InFlightState(Stored):
    """The file's content."""

    agent: str
    jobs: dict[str, Begun] = Field(default_factory=dict)


class InFlight:
    """Jobs by name; every change is on disk before it returns."""

    def __init__(self, path: Path) -> None:
        """Read the file, or begin one with a new agent's name.

        Raises:
            ContractBroken: the file is damaged.
        """
        self._path = path
        if path.exists():
            self._state = InFlightState.from_bytes(path.read_bytes(), where=str(path))
        else:
            self._state = InFlightState(agent=f"{socket.gethostname()}-{secrets.token_hex(4)}")
            self._write()

    @property
    def agent(self) -> str:
        """This agent's name, the same after a restart."""
        return self._state.agent

    def jobs(self) -> dict[str, Begun]:
        """A copy of what is in flight."""
        return dict(self._state.jobs)

    def put(self, begun: Begun) -> None:
        """Remember a job, or how far it now is."""
        self._replace({**self._state.jobs, begun.spec.key.job_name: begun})

    def drop(self, name: str) -> None:
        """Forget a job."""
        self._replace({key: begun for key, begun in self._state.jobs.items() if key != name})

    def _replace(self, jobs: dict[str, Begun]) -> None:
        self._state = self._state.model_copy(update={"jobs": jobs})
        self._write()

    def _write(self) -> None:
        partial = self._path.with_suffix(".partial")
        with partial.open("wb") as file:
            file.write(self._state.to_bytes())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)
