"""Sets in the ledger: what lies in a folder, which seals came, and what waits for one."""

from __future__ import annotations

from datetime import datetime, timedelta

from contracts import ledger
from contracts.ledger import SetObject, Unsealed
from contracts.names import set_id
from lambdas.ledger.table import Table
from lambdas.ledger.turns import Turns

ARRIVAL_GRAIN = timedelta(seconds=60)
"""A folder's newest arrival is noted to about this, so that a burst is not a write a file."""


class Sets:
    """Every object version below a folder, each taken at most once."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def object(self, pipeline: str, folder: str, object_id: str) -> SetObject | None:
        """An object version of a folder, or None."""
        item = self._table.get(ledger.set_object_key(set_id(pipeline, folder), object_id))
        return None if item is None else SetObject.model_validate(item)

    def objects(self, pipeline: str, folder: str) -> dict[str, SetObject]:
        """Every object version that is known of a folder, by id."""
        found = self._table.query(ledger.set_key(set_id(pipeline, folder)), "OBJECT#")
        return {item["id"]: SetObject.model_validate(item) for item in found}

    def seals(self, pipeline: str, folder: str) -> list[str]:
        """Drop ids of the seals that came."""
        found = self._table.query(ledger.set_key(set_id(pipeline, folder)), "SEAL#")
        return [item["drop"] for item in found]

    def record_unsealed(self, pipeline: str, folder: str, found: SetObject) -> bool:
        """Record an object that waits for its seal; False when it is known already."""
        key = ledger.set_object_key(set_id(pipeline, folder), found.id)
        return self._table.write(self._table.put(key, _lasting(found)))

    def mark(self, pipeline: str, folder: str, settled: SetObject) -> bool:
        """Put an object into its run, or refuse it; False when that was decided before."""
        return self._table.write(
            self._table.update(
                ledger.set_object_key(set_id(pipeline, folder), settled.id),
                set_=_lasting(settled),
                when="attribute_not_exists(#status) OR #status = :unsealed",
                values={":unsealed": "unsealed"},
            )
        )

    def note_arrival(self, arrived: Unsealed) -> None:
        """Have sweep look after a folder; an arrival that is noted already changes nothing."""
        key = _unsealed_key(arrived)
        item = self._table.get(key)
        if item is None:
            expiry = {"expires_at": ledger.expiry(arrived.arrived_at.timestamp())}
            first = arrived.model_copy(update={"looked_at": arrived.arrived_at})
            self._table.write(self._table.put(key, {**ledger.attributes(first), **expiry}))
            return
        if arrived.arrived_at - Unsealed.model_validate(item).arrived_at < ARRIVAL_GRAIN:
            return
        self._table.write(
            self._table.update(
                key,
                set_=ledger.attributes(arrived),
                when="#arrived_at = :seen",
                values={":seen": item["arrived_at"]},
            )
        )

    def next_unsealed(self, count: int) -> list[Unsealed]:
        """The next `count` folders after those of the last turn, round and round."""
        found = Turns(self._table).next(ledger.UNSEALED, count)
        return [Unsealed.model_validate(item) for item in found]

    def stopped_at(self, last: Unsealed) -> None:
        """Sweep came no further in its turn: the next begins behind this one."""
        Turns(self._table).stopped_at(ledger.UNSEALED, _unsealed_key(last)["sk"])

    def unsealed_of(self, pipeline: str, *, limit: int) -> list[Unsealed]:
        """Folders of a pipeline in which files may wait for their seal."""
        found = self._table.query(ledger.UNSEALED, f"{pipeline}#", limit=limit)
        return [Unsealed.model_validate(item) for item in found]

    def note_told(self, folder: Unsealed) -> bool:
        """The uploader was told; False when something new has arrived."""
        return self._table.write(
            self._table.update(
                _unsealed_key(folder),
                set_={"told": True},
                when="#arrived_at = :seen",
                values={":seen": ledger.attributes(folder)["arrived_at"]},
            )
        )

    def note_looked(self, folder: Unsealed, at: datetime) -> bool:
        """What was gone from the folder is settled; False when it is forgotten."""
        return self._table.write(
            self._table.update(
                _unsealed_key(folder),
                set_={"looked_at": at.isoformat()},
                when="attribute_exists(#arrived_at)",
                values={},
            )
        )

    def forget(self, folder: Unsealed) -> None:
        """Nothing waits in the folder; whoever forgets one looks into it once more."""
        self._table.write(self._table.delete(_unsealed_key(folder)))


def _unsealed_key(folder: Unsealed) -> dict[str, str]:
    return ledger.unsealed_key(folder.pipeline, set_id(folder.pipeline, folder.folder))


def _lasting(found: SetObject) -> dict[str, object]:
    expires_at = ledger.expiry(found.accepted_at.timestamp())
    return {**ledger.attributes(found), "expires_at": expires_at}
