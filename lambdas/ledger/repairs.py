"""What last happened to the cluster's machines: one item, which every turn of sweep reads."""

from __future__ import annotations

from contracts import ledger
from contracts.ledger import Repair
from lambdas.ledger.table import Table


class Repairs:
    """The repair that may take the longest, of those that were told of."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> Repair | None:
        """The repair; None when none was ever told of, or it was long ago."""
        item = self._table.get(ledger.repair_key())
        return None if item is None else Repair.model_validate(item)

    def note(self, repair: Repair) -> bool:
        """Note a repair; False when one is noted that takes as long, or longer."""
        expiry = {"expires_at": ledger.expiry(repair.until.timestamp())}
        changes = {**ledger.attributes(repair), **expiry}
        return self._table.write(
            self._table.update(
                ledger.repair_key(),
                set_=changes,
                when="attribute_not_exists(#until) OR #until < :until",
                values={":until": changes["until"]},
            )
        )
