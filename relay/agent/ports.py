"""What the agent asks of the outside, as protocols that adapters and fakes fulfil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.names import AttemptKey
from contracts.result import PhaseResult

RayState = Literal[
    "PENDING", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED", "ABSENT", "UNREACHABLE", "DEAD"
]
"""Ray's own states; ABSENT: Ray answers and knows no such job; UNREACHABLE: no answer for now;
DEAD: Ray is given up, and everything that ran on it with it."""

RAY_ENDED: frozenset[RayState] = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})


class JobLook(NamedTuple):
    """How Ray says a job is."""

    state: RayState
    exit_code: int | None = None
    message: str = ""


class Room(NamedTuple):
    """What a Ray has in all, whether it is in use or not."""

    cpus: float
    gpus: float


class Jobs(Protocol):
    """Ray's Jobs API, as far as the agent uses it."""

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Make sure that the job exists; a second start of the same name is no error.

        Raises:
            ServiceUnavailable: Ray did not take it; it may still have started.
        """

    def look(self, name: str) -> JobLook:
        """See how the job is; never raises for a Ray that does not answer."""

    def stop(self, name: str) -> None:
        """Ask Ray to end the job; no error when it has ended or never was."""

    def reachable(self) -> bool:
        """Whether the Jobs API answers now."""

    def room(self) -> Room | None:
        """What Ray has now; None when it does not say, as before its node is there."""


class RayKeeper(Protocol):
    """Whoever started Ray here and can start it again."""

    def alive(self) -> bool | None:
        """Whether Ray is well; None when that cannot be told from here."""

    def grows(self) -> bool:
        """Whether Ray may get more nodes, so that a job it has no room for may wait for some."""

    def restart(self) -> None:
        """Start Ray again, returning when it takes jobs.

        Raises:
            ServiceUnavailable: it would not start.
        """


class Processes(Protocol):
    """The processes of this machine that belong to a job."""

    def alive(self, mark: str) -> bool:
        """Whether a process whose command line holds `mark` lives."""

    def end(self, marks: Sequence[str], grace_s: float) -> bool:
        """End those processes and their descendants: ask, wait `grace_s`, then kill.

        Returns:
            Whether none is left.
        """


class Objects(Protocol):
    """The objects beside a job in the bucket."""

    def spec(self, key: str) -> JobSpec | None:
        """Read `job.json` at `key`; None when there is none.

        Raises:
            ContractBroken: it is not a job's spec, or lies at another job's key.
        """

    def put_claim(self, key: AttemptKey, claim: Claim) -> bool:
        """Claim a job; False when somebody has."""

    def claimed_by(self, key: AttemptKey) -> str | None:
        """The agent that holds the job."""

    def stop(self, key: AttemptKey) -> Stop | None:
        """The wish that the job end."""

    def exited(self, key: AttemptKey) -> bool:
        """Whether the job's end is on record."""

    def put_result(self, result: PhaseResult) -> bool:
        """Write the job's last word unless it has spoken itself; whether it was written."""

    def put_exit(self, key: AttemptKey, exit_: Exit) -> None:
        """Put the job's end on record; the first record stands."""


class Doorbell(NamedTuple):
    """A message that says: look at this job."""

    job: str
    receipt: str


class Doorbells(Protocol):
    """The job queue."""

    def receive(self, most: int, wait_s: int) -> list[Doorbell]:
        """Wait up to `wait_s` seconds for at most `most` messages."""

    def delete(self, doorbell: Doorbell) -> None:
        """Remove a message that has been seen to."""


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Aware UTC time."""
