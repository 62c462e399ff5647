"""Drops in the ledger: waiting, then planned into one run; or rejected."""

from __future__ import annotations

from datetime import datetime

from contracts import ledger
from contracts.ledger import DropRecord
from contracts.names import set_id
from lambdas.ledger.table import Table


class Drops:
    """Every object version that was uploaded to a pipeline."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, drop: str) -> DropRecord | None:
        """A drop, or None."""
        item = self._table.get(ledger.drop_key(drop))
        return None if item is None else DropRecord.model_validate(item)

    def record_waiting(self, drop: DropRecord, *, folder: str = "") -> bool:
        """Record an accepted drop as waiting; False when it is known already.

        Args:
            drop: the drop.
            folder: of a set, whose seal the drop is.
        """
        item = {**ledger.attributes(drop), **_expiry(drop.accepted_at)}
        waiting = ledger.waiting_key(drop.pipeline, _stamp(drop.accepted_at), drop.id)
        parts = [self._table.put(ledger.drop_key(drop.id), item), self._table.put(waiting, item)]
        if folder:
            seal = ledger.seal_key(set_id(drop.pipeline, folder), drop.id)
            listed = {"drop": drop.id, **_expiry(drop.accepted_at)}
            parts.append(self._table.put(seal, listed))
        return self._table.transact(*parts)

    def record_rejected(self, drop: DropRecord) -> bool:
        """Record a refused upload; False when it is known already."""
        item = {**ledger.attributes(drop), **_expiry(drop.accepted_at)}
        return self._table.write(self._table.put(ledger.drop_key(drop.id), item))

    def reject_waiting(self, drop: DropRecord, run: str, reason: str) -> bool:
        """Refuse a waiting drop on behalf of the run that holds the lease.

        Returns:
            False when something else became of the drop before, or the lease is another run's.
        """
        return self._leave_waiting(drop, run, {"status": "rejected", "reason": reason})

    def note(self, drop: str, run: str, reason: str) -> bool:
        """Keep with a planned drop why it, or a part of it, was not usable.

        Returns:
            False when a later run, which sorts behind, has noted something; or the same run.
        """
        planned = "#status = :planned"
        first = f"{planned} AND attribute_not_exists(#noted_by)"
        return self._table.write(
            self._table.update(
                ledger.drop_key(drop),
                set_={"reason": reason, "noted_by": run},
                when=f"{first} OR {planned} AND #noted_by < :run",
                values={":planned": "planned", ":run": run},
            )
        )

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
        return self._leave_waiting(drop, run, {"status": "planned", "run": run})

    def _leave_waiting(self, drop: DropRecord, run: str, changes: dict[str, str]) -> bool:
        waiting = ledger.waiting_key(drop.pipeline, _stamp(drop.accepted_at), drop.id)
        return self._table.transact(
            self._table.update(
                ledger.drop_key(drop.id),
                set_=changes,
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
