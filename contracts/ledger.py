"""The ledger's items: one table, read by the functions and by the operator's tool.

Times are ISO-8601 UTC strings, so that they sort; `expires_at` is the table's time to live.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from contracts.limits import LEDGER_RETENTION_S
from contracts.model import Contract
from contracts.names import Phase, PipelineName, RunId
from contracts.progress import Progress
from contracts.result import PhaseOutput

RunStatus = Literal[
    "STARTING", "OPEN", "PUBLISHED", "KEPT", "NO_DATA", "EMPTY", "FAILED", "CANCELLED"
]
RUN_ENDED: frozenset[str] = frozenset(
    {"PUBLISHED", "KEPT", "NO_DATA", "EMPTY", "FAILED", "CANCELLED"}
)
AttemptStatus = Literal["RESERVED", "SUBMITTED", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED"]
ATTEMPT_ENDED: frozenset[str] = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
DropStatus = Literal["waiting", "planned", "rejected"]
SetObjectStatus = Literal["unsealed", "planned", "rejected"]

PIPELINES = "PIPELINES"
UNSEALED = "UNSEALED"
TELLING = "TELLING"


class Item(Contract):
    """A ledger item; attributes that a newer Relay added are ignored by an older one."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PipelineRecord(Item):
    """`PIPELINES`/`<name>`: what is known of a pipeline besides its recipe."""

    name: PipelineName
    paused: bool = False
    consecutive_failures: int = 0
    current_version: int | None = None


class Lease(Item):
    """`PIPELINE#<name>`/`LEASE`: the run whose turn it is."""

    pipeline: PipelineName
    run: RunId
    acquired_at: AwareDatetime


class DropRecord(Item):
    """`DROP#<id>`/`DROP`: one object version and where it is in its life; of a set, its seal.

    A planned drop of which something was not usable keeps the reason.
    """

    id: str
    pipeline: str
    key: str
    version_id: str
    size: int = Field(ge=0, description="Bytes; of a set, all files as they were when sealed.")
    objects: int | None = Field(None, description="Of a set, how many files; None of a file.")
    status: DropStatus
    run: RunId | None = None
    reason: str = ""
    noted_by: RunId | None = Field(None, description="The run that found what `reason` says.")
    accepted_at: AwareDatetime


class SetObject(Item):
    """`SET#<set id>`/`OBJECT#<object id>`: one object version in a folder, and what became of it.

    The id is formed as a drop's is; a run takes each version once.
    """

    id: str
    key: str
    version_id: str
    size: int = Field(ge=0)
    status: SetObjectStatus
    run: RunId | None = None
    reason: str = ""
    accepted_at: AwareDatetime


class Unsealed(Item):
    """`UNSEALED`/`<pipeline>#<set id>`: a folder in which files may wait for their seal."""

    pipeline: PipelineName
    folder: str
    arrived_at: AwareDatetime = Field(description="About when the newest file arrived.")
    seal_limit_s: int
    told: bool = Field(False, description="Whether its uploader was told that it waits.")
    looked_at: AwareDatetime | None = Field(
        None, description="When the folder was last listed for files that are gone."
    )


class RunRecord(Item):
    """`RUN#<run>`/`RUN`: a run from its start to its end."""

    run: RunId
    pipeline: PipelineName
    status: RunStatus
    created_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    reason: str = ""
    retry_of: RunId | None = None
    drops: int = Field(0, description="How many it has, once all are marked as its.")
    marked: int = Field(0, description="Of a plan too long for one call, drops marked so far.")
    version: int | None = None
    uri: str | None = None
    note: str = Field("", description="What happened to the cluster's machines meanwhile.")
    patient_until: AwareDatetime | None = Field(
        None, description="Until then neither silence nor a slow start fails the run."
    )


class Repair(Item):
    """`CLUSTER`/`REPAIR`: what last happened to the cluster's machines."""

    until: AwareDatetime = Field(description="How long jobs may have to wait for it; in UTC.")
    note: str


class AttemptRecord(Item):
    """`RUN#<run>`/`ATTEMPT#…`: one token, one job."""

    run: RunId
    pipeline: PipelineName
    round: int
    phase: Phase
    attempt: int
    token: str
    nonce: str
    status: AttemptStatus
    submitted_at: AwareDatetime
    start_limit_s: int
    queue_limit_s: int = 43_200
    timeout_s: int | None = Field(None, description="Of its work; by the deadline alone if None.")
    deadline: AwareDatetime
    waiting: str = Field("", description="Why the job did not run, when last looked.")
    queued_at: AwareDatetime | None = Field(None, description="When last seen in the queue.")
    progress: Progress | None = None
    output: PhaseOutput | None = None
    reports_told: int = Field(0, description="Reports to uploaders written, of many.")
    ended_at: AwareDatetime | None = None
    error: str = ""
    cause: str = ""


def pipeline_key(name: str) -> dict[str, str]:
    """Key of a pipeline's record."""
    return {"pk": PIPELINES, "sk": name}


def lease_key(name: str) -> dict[str, str]:
    """Key of a pipeline's lease."""
    return {"pk": f"PIPELINE#{name}", "sk": "LEASE"}


def waiting_key(name: str, accepted_at: str, drop: str) -> dict[str, str]:
    """Key of a waiting drop: in order of arrival."""
    return {"pk": f"PIPELINE#{name}", "sk": f"WAITING#{accepted_at}#{drop}"}


def listing_key(name: str, run: str) -> dict[str, str]:
    """Key under which a pipeline's runs are listed, in order of time."""
    return {"pk": f"PIPELINE#{name}", "sk": f"RUN#{run}"}


def policy_key(name: str, version: int) -> dict[str, str]:
    """Key of a policy version."""
    return {"pk": f"PIPELINE#{name}", "sk": f"POLICY#{version:08d}"}


def drop_key(drop: str) -> dict[str, str]:
    """Key of a drop's record."""
    return {"pk": f"DROP#{drop}", "sk": "DROP"}


def set_key(set_id: str) -> str:
    """Partition of a set: what lies in one folder, and the seals that came."""
    return f"SET#{set_id}"


def set_object_key(set_id: str, object_id: str) -> dict[str, str]:
    """Key of an object version in a folder."""
    return {"pk": set_key(set_id), "sk": f"OBJECT#{object_id}"}


def seal_key(set_id: str, drop: str) -> dict[str, str]:
    """Key under which a set's seals are listed."""
    return {"pk": set_key(set_id), "sk": f"SEAL#{drop}"}


def unsealed_key(pipeline: str, set_id: str) -> dict[str, str]:
    """Key of a folder in which files may wait for their seal."""
    return {"pk": UNSEALED, "sk": f"{pipeline}#{set_id}"}


def run_key(run: str) -> dict[str, str]:
    """Key of a run's record."""
    return {"pk": f"RUN#{run}", "sk": "RUN"}


def attempt_item_key(run: str, round_: int, phase: str, attempt: int) -> dict[str, str]:
    """Key of an attempt's record."""
    return {"pk": f"RUN#{run}", "sk": f"ATTEMPT#{round_:02d}-{phase}-{attempt:02d}"}


def repair_key() -> dict[str, str]:
    """Key of what last happened to the cluster's machines."""
    return {"pk": "CLUSTER", "sk": "REPAIR"}


def expiry(now_epoch_s: float) -> int:
    """When an item written now expires, in epoch seconds."""
    return int(now_epoch_s) + LEDGER_RETENTION_S


def attributes(item: Item) -> dict[str, Any]:
    """An item's attributes as plain JSON values; nothing that is None."""
    return item.model_dump(mode="json", exclude_none=True)
