"""Runs in the ledger, and the lease that makes a pipeline's runs take turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from contracts import ledger
from contracts.ledger import Lease, RunRecord, RunStatus
from contracts.limits import FAILED_RUNS_BEFORE_PAUSE
from lambdas.ledger.table import Table, Write

_NOT_ENDED = "#status IN (:starting, :open)"
_NOT_ENDED_VALUES = {":starting": "STARTING", ":open": "OPEN"}


class Runs:
    """Every run, the newest of each pipeline holding the lease while it lives."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, run: str) -> RunRecord | None:
        """A run, or None."""
        item = self._table.get(ledger.run_key(run))
        return None if item is None else RunRecord.model_validate(item)

    def lease(self, pipeline: str) -> Lease | None:
        """Who holds the pipeline's lease, or None."""
        item = self._table.get(ledger.lease_key(pipeline))
        return None if item is None else Lease.model_validate(item)

    def open(self, record: RunRecord, *, even_if_paused: bool = False) -> bool:
        """Take the lease and record the run in one transaction.

        Returns:
            False when another run holds the lease, or the pipeline is paused.
        """
        expiry = {"expires_at": ledger.expiry(record.created_at.timestamp())}
        lease = Lease(pipeline=record.pipeline, run=record.run, acquired_at=record.created_at)
        parts = [
            self._table.put(ledger.lease_key(record.pipeline), ledger.attributes(lease)),
            self._table.put(ledger.run_key(record.run), {**ledger.attributes(record), **expiry}),
            self._table.put(
                ledger.listing_key(record.pipeline, record.run), {"run": record.run, **expiry}
            ),
        ]
        if not even_if_paused:
            parts.append(
                self._table.check(
                    ledger.pipeline_key(record.pipeline),
                    when="attribute_not_exists(#paused) OR #paused = :no",
                    values={":no": False},
                )
            )
        return self._table.transact(*parts)

    def mark_open(self, run: str) -> bool:
        """The execution was started; False when the run went on already."""
        return self._table.write(
            self._table.update(
                ledger.run_key(run),
                set_={"status": "OPEN"},
                when="#status = :starting",
                values={":starting": "STARTING"},
            )
        )

    def set_drops(self, run: str, drops: int) -> bool:
        """Note how many drops were planned; False when the run has ended."""
        return self._table.write(
            self._table.update(
                ledger.run_key(run),
                set_={"drops": drops},
                when=_NOT_ENDED,
                values=_NOT_ENDED_VALUES,
            )
        )

    def note_marked(self, run: str, drops: int) -> bool:
        """Note that the first drops of the plan are the run's; a smaller number changes nothing."""
        return self._table.write(
            self._table.update(
                ledger.run_key(run),
                set_={"marked": drops},
                when="attribute_not_exists(#marked) OR #marked < :drops",
                values={":drops": drops},
            )
        )

    def stretch(self, run: str, *, until: datetime, note: str) -> bool:
        """Be patient with a run; False when it has ended, or is treated so for longer already."""
        first = f"{_NOT_ENDED} AND attribute_not_exists(#patient_until)"
        longer = f"{_NOT_ENDED} AND #patient_until < :until"
        at = until.astimezone(UTC).isoformat()
        return self._table.write(
            self._table.update(
                ledger.run_key(run),
                set_={"patient_until": at, "note": note},
                when=f"{first} OR {longer}",
                values={**_NOT_ENDED_VALUES, ":until": at},
            )
        )

    def end(
        self,
        run: str,
        status: RunStatus,
        *,
        at: datetime,
        reason: str,
        version: int | None = None,
        uri: str | None = None,
    ) -> bool:
        """Give a run its terminal status; False when it has one already."""
        changes: dict[str, Any] = {
            "status": status,
            "ended_at": at.isoformat(),
            "reason": reason,
        }
        if version is not None:
            changes["version"] = version
        if uri is not None:
            changes["uri"] = uri
        return self._table.write(
            self._table.update(
                ledger.run_key(run), set_=changes, when=_NOT_ENDED, values=_NOT_ENDED_VALUES
            )
        )

    def release(self, record: RunRecord, *, failures_before: int) -> bool:
        """Free the lease and count the outcome, once; False when it was freed before."""
        free = self._table.delete(
            ledger.lease_key(record.pipeline), when="#run = :run", values={":run": record.run}
        )
        count = self._count(record, failures_before)
        return self._table.transact(free, *([count] if count else []))

    def _count(self, record: RunRecord, failures_before: int) -> Write | None:
        key = ledger.pipeline_key(record.pipeline)
        if record.status in {"PUBLISHED", "KEPT", "NO_DATA"}:
            return self._table.update(
                key, set_={"name": record.pipeline, "consecutive_failures": 0}
            )
        if record.status == "FAILED":
            failures = failures_before + 1
            changes: dict[str, Any] = {"name": record.pipeline, "consecutive_failures": failures}
            if failures >= FAILED_RUNS_BEFORE_PAUSE:
                changes["paused"] = True
            return self._table.update(key, set_=changes)
        return None
