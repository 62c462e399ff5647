"""Results whose many reports to uploaders are still being written: sweep goes on with them."""

from __future__ import annotations

from contracts import ledger
from contracts.ledger import AttemptRecord
from contracts.names import AttemptKey, attempt_key
from lambdas.ledger.attempts import key_of
from lambdas.ledger.table import Table
from lambdas.ledger.turns import Turns


class Telling:
    """How far each is, and which are not done."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def begin(self, record: AttemptRecord) -> None:
        """Note that there is much to tell; noting it again changes nothing."""
        named = {
            "run": record.run,
            "round": record.round,
            "phase": record.phase,
            "attempt": record.attempt,
            "expires_at": ledger.expiry(record.submitted_at.timestamp()),
        }
        self._table.write(self._table.put(_key(key_of(record)), named))

    def advance(self, record: AttemptRecord, told: int) -> bool:
        """Note that the first `told` reports are written; a smaller number changes nothing."""
        return self._table.write(
            self._table.update(
                ledger.attempt_item_key(record.run, record.round, record.phase, record.attempt),
                set_={"reports_told": told},
                when="attribute_not_exists(#reports_told) OR #reports_told < :told",
                values={":told": told},
            )
        )

    def end(self, key: AttemptKey) -> None:
        """Everybody was told."""
        self._table.write(self._table.delete(_key(key)))

    def next(self, count: int) -> list[AttemptKey]:
        """The next `count` that are not done, round and round."""
        found = Turns(self._table).next(ledger.TELLING, count)
        return [
            attempt_key(item["run"], item["round"], item["phase"], item["attempt"])
            for item in found
        ]


def _key(key: AttemptKey) -> dict[str, str]:
    return {"pk": ledger.TELLING, "sk": key.job_name}
