"""Attempts in the ledger: one task token is one attempt, and numbers only grow."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from contracts import ledger
from contracts.ledger import AttemptRecord, AttemptStatus
from contracts.names import AttemptKey, attempt_key
from contracts.progress import Progress
from contracts.result import PhaseOutput
from lambdas.ledger.table import Table
from lambdas.ledger.turns import Turns

JOBS = "JOBS"


class Attempts:
    """Submissions of jobs, and which jobs may still exist."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of_phase(self, run: str, round_: int, phase: str) -> list[AttemptRecord]:
        """A phase's attempts, the oldest first."""
        found = self._table.query(f"RUN#{run}", f"ATTEMPT#{round_:02d}-{phase}-")
        return [AttemptRecord.model_validate(item) for item in found]

    def of_run(self, run: str) -> list[AttemptRecord]:
        """All attempts of a run, in the order of rounds."""
        found = self._table.query(f"RUN#{run}", "ATTEMPT#")
        return [AttemptRecord.model_validate(item) for item in found]

    def reserve(self, record: AttemptRecord) -> bool:
        """Record the token before any job exists; False when the number is taken."""
        expiry = {"expires_at": ledger.expiry(record.submitted_at.timestamp())}
        item = {**ledger.attributes(record), **expiry}
        return self._table.write(self._table.put(_key(record), item))

    def take_over(self, record: AttemptRecord, token: str) -> bool:
        """Give a reserved attempt, which has no job yet, its next token."""
        return self._table.write(
            self._table.update(
                _key(record),
                set_={"token": token},
                when="#status = :reserved AND #token = :token",
                values={":reserved": "RESERVED", ":token": record.token},
            )
        )

    def mark_submitted(self, record: AttemptRecord, *, at: datetime, deadline: datetime) -> bool:
        """The job is about to exist; False when another token took the attempt over."""
        job = {
            "run": record.run,
            "round": record.round,
            "phase": record.phase,
            "attempt": record.attempt,
            "expires_at": ledger.expiry(at.timestamp()),
        }
        return self._table.transact(
            self._table.update(
                _key(record),
                set_={
                    "status": "SUBMITTED",
                    "submitted_at": at.isoformat(),
                    "deadline": deadline.isoformat(),
                },
                when="#status = :reserved AND #token = :token",
                values={":reserved": "RESERVED", ":token": record.token},
            ),
            self._table.put({"pk": JOBS, "sk": _name(record)}, job),
        )

    def record_progress(self, record: AttemptRecord, progress: Progress) -> bool:
        """Keep the newest progress; False when it is older, or the attempt has ended."""
        live = "#status IN (:submitted, :running)"
        first = f"{live} AND attribute_not_exists(#progress)"
        newer = f"{live} AND #progress.#sequence < :sequence"
        return self._table.write(
            self._table.update(
                _key(record),
                set_={"status": "RUNNING", "progress": progress.model_dump(mode="json")},
                when=f"{first} OR {newer}",
                values={
                    ":submitted": "SUBMITTED",
                    ":running": "RUNNING",
                    ":sequence": progress.sequence,
                },
            )
        )

    def note_waiting(self, record: AttemptRecord, why: str, *, queued_at: datetime | None) -> bool:
        """Write down why an attempt's job does not run; False when the attempt has ended."""
        changes = {"waiting": why}
        if queued_at is not None:
            changes["queued_at"] = queued_at.isoformat()
        return self._table.write(
            self._table.update(
                _key(record),
                set_=changes,
                when="#status IN (:submitted, :running)",
                values={":submitted": "SUBMITTED", ":running": "RUNNING"},
            )
        )

    def end(
        self,
        record: AttemptRecord,
        status: AttemptStatus,
        *,
        at: datetime,
        output: PhaseOutput | None = None,
        error: str = "",
        cause: str = "",
    ) -> bool:
        """Give an attempt its terminal status; False when it has one already."""
        changes: dict[str, Any] = {
            "status": status,
            "ended_at": at.isoformat(),
            "error": error,
            "cause": cause,
        }
        if output is not None:
            changes["output"] = output.model_dump(mode="json")
        return self._table.write(
            self._table.update(
                _key(record),
                set_=changes,
                when="#status IN (:reserved, :submitted, :running)",
                values={
                    ":reserved": "RESERVED",
                    ":submitted": "SUBMITTED",
                    ":running": "RUNNING",
                },
            )
        )

    def possible_jobs(self, limit: int) -> list[AttemptKey]:
        """The next of the jobs that were started and not yet seen to be gone."""
        found = Turns(self._table).next(JOBS, limit)
        return [
            attempt_key(item["run"], item["round"], item["phase"], item["attempt"])
            for item in found
        ]

    def stopped_at(self, last: AttemptKey) -> None:
        """Sweep came no further in its turn: the next begins behind this job."""
        Turns(self._table).stopped_at(JOBS, last.job_name)

    def forget_job(self, key: AttemptKey) -> None:
        """The job was seen to be gone."""
        self._table.write(self._table.delete({"pk": JOBS, "sk": key.job_name}))


def key_of(record: AttemptRecord) -> AttemptKey:
    """The attempt's key."""
    return AttemptKey(record.run, record.round, record.phase, record.attempt)


def _key(record: AttemptRecord) -> dict[str, str]:
    return ledger.attempt_item_key(record.run, record.round, record.phase, record.attempt)


def _name(record: AttemptRecord) -> str:
    return key_of(record).job_name
