"""What logic asks of the outside, as protocols that adapters fulfil."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from contracts.job import JobSpec
from contracts.names import AttemptKey

JobState = Literal["absent", "queued", "waiting", "running", "ended", "unknown"]


class Look(NamedTuple):
    """What a runner sees of a job.

    Attributes:
        state: `queued` waits for quota and `waiting` for anything else; `unknown` is a job
            that cannot be looked at now, so it may live.
        reason: why, in words.
        error: what an end without a result is called, a name of contracts.errors.
    """

    state: JobState
    reason: str
    error: str = "JobCrashed"


class Runner(Protocol):
    """Desired state of jobs: every call may be repeated."""

    @property
    def queues(self) -> bool:
        """Whether jobs may have to wait in a queue for quota before they start."""

    def start(self, spec: JobSpec) -> None:
        """Make sure that the job exists; the same spec twice is one job."""

    def look(self, key: AttemptKey) -> Look:
        """See how the job is."""

    def stop(self, key: AttemptKey, reason: str) -> None:
        """Make sure that the job ends, or never starts."""

    def ring(self, key: AttemptKey) -> None:
        """Remind whoever starts jobs of this one; may do nothing."""

    def list(self) -> Sequence[AttemptKey]:
        """Jobs that are there, the oldest first, as far as the runner can list them."""

    def last_words(self, key: AttemptKey) -> str:
        """The end of a job's log, one line; empty where there is none to be read."""


class ObjectHead(NamedTuple):
    """What the store says of an object without its content."""

    size: int
    etag: str
    sha256: str | None


class StoredVersion(NamedTuple):
    """An object version as the store lists it."""

    key: str
    version_id: str
    size: int
    newest: bool


class Objects(Protocol):
    """The pipeline's bucket."""

    bucket: str

    def get(self, key: str, *, limit: int) -> bytes | None:
        """Content, at most `limit` bytes; None when there is no such object.

        Raises:
            ContractBroken: the object is larger than `limit`.
        """

    def get_range(self, key: str, version_id: str, length: int) -> bytes | None:
        """The first `length` bytes of an exact version; None when it is gone.

        Raises:
            DropRefused: it may not be read, or not now, as by its key or its storage class.
        """

    def list_versions(self, prefix: str) -> Iterator[StoredVersion]:
        """Every version below a prefix, in the order of keys; deletions count as old versions.

        A deletion is listed with an empty version and no size, so that whoever looks through a
        bounded number of entries counts it.
        """

    def head(self, key: str) -> ObjectHead | None:
        """Size, tag and sha256 of an object; None when there is none."""

    def put(self, key: str, body: bytes) -> None:
        """Write an object, whatever was there."""

    def put_if_absent(self, key: str, body: bytes) -> bool:
        """Write an object unless one is there; whether it was written."""


class ExecutionState(NamedTuple):
    """How an execution is."""

    status: Literal["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
    error: str
    cause: str


class Executions(Protocol):
    """Step Functions, as far as the control plane uses it."""

    def start(self, pipeline: str, run: str) -> None:
        """Start the run's execution; a second start of the same run is no error."""

    def describe(self, run: str) -> ExecutionState | None:
        """The run's execution; None when there is none."""

    def heartbeat(self, token: str) -> bool:
        """Keep a task alive; False when the token is no longer waited for."""

    def succeed(self, token: str, output: bytes) -> bool:
        """Answer a task; False when the token is no longer waited for."""

    def fail(self, token: str, error: str, cause: str) -> bool:
        """Fail a task; False when the token is no longer waited for."""


class Clock(Protocol):
    """The time and chance that logic is given."""

    def now(self) -> datetime:
        """Aware UTC time."""

    def suffix(self) -> str:
        """Six random lower-case letters and digits."""

    def nonce(self) -> str:
        """An unguessable string."""
