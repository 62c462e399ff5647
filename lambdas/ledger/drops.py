"""Drops in the ledger: waiting, then planned into one run; or rejected."""

from __future__ import annotations

from datetime import datetime

from contracts import ledger
from contracts.ledger import DropRecord
from lambdas.ledger.table import Table


class Drops:
    """Every object version that was uploaded to a pipeline."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, drop: str) -> DropRecord | None:
        """A drop, or None."""
        item = self._table.get(ledger.drop_key(drop))
        return None if item is None else DropRecord.model_validate(item)

    def record_waiting(self, drop: DropRecord) -> bool:
        """Record an accepted drop as waiting; False when it is known already."""
        item = {**ledger.attributes(drop), **_expiry(drop.accepted_at)}
        waiting = ledger.waiting_key(drop.pipeline, _stamp(drop.accepted_at), drop.id)
        return self._table.transact(
            self._table.put(ledger.drop_key(drop.id), item), self._table.put(waiting, item)
        )

    def record_rejected(self, drop: DropRecord) -> bool:
        """Record a refused upload; False when it is known already."""
        item = {**ledger.attributes(drop), **_expiry(drop.accepted_at)}
        return self._table.write(self._table.put(ledger.drop_key(drop.id), item))

    def any_waiting(self, pipeline: str) -> bool:
        """Whether a drop waits."""
        return bool(self.waiting(pipeline, limit=1))

    def waiting(self, pipeline: str, *, limit: int) -> list[DropRecord]:
        """Waiting drops, the oldest first, read consistently from the base table."""
        found = self._table.query(f"PIPELINE#{pipeline}", "WAITING#", limit=limit)
        return [DropRecord.model_validate(item) for item in found]

    def mark_planned(self, drop: DropRecord, run: str) -> bool:
        """Move a waiting drop into the run that holds the lease.

        Returns:
            False when the drop was moved before, or the lease is another run's.
        """
        waiting = ledger.waiting_key(drop.pipeline, _stamp(drop.accepted_at), drop.id)
        return self._table.transact(
            self._table.update(
                ledger.drop_key(drop.id),
                set_={"status": "planned", "run": run},
                when="#status = :waiting",
                values={":waiting": "waiting"},
            ),
            self._table.delete(waiting),
            self._table.check(
                ledger.lease_key(drop.pipeline), when="#run = :run", values={":run": run}
            ),
        )


def _stamp(at: datetime) -> str:
    return at.strftime("%Y%m%dT%H%M%S.%fZ")


def _expiry(at: datetime) -> dict[str, int]:
    return {"expires_at": ledger.expiry(at.timestamp())}
