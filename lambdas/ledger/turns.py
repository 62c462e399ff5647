"""Sweep's place in a partition: the next items behind those of the last turn, round and round."""

from __future__ import annotations

from lambdas.ledger.table import Plain, Table


class Turns:
    """Bounded turns that reach every item of a partition."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def next(self, pk: str, count: int) -> list[Plain]:
        """The next `count` items of a partition, each at most once.

        The place is noted before the items are worked on: what breaks a turn does not keep the
        items behind it from theirs.
        """
        cursor = _cursor(pk)
        after = (self._table.get(cursor) or {}).get("after")
        found = list(self._table.query(pk, "", limit=count, after=after or None))
        if len(found) < count and after:
            seen = {item["sk"] for item in found}
            first = self._table.query(pk, "", limit=count - len(found))
            found += [item for item in first if item["sk"] not in seen]
        reached = found[-1]["sk"] if len(found) == count else ""
        if reached != (after or ""):
            self._table.write(self._table.update(cursor, set_={"after": reached}))
        return found

    def stopped_at(self, pk: str, sk: str) -> None:
        """A turn came no further than to this item: the next begins behind it."""
        self._table.write(self._table.update(_cursor(pk), set_={"after": sk}))


def _cursor(pk: str) -> dict[str, str]:
    return {"pk": "SWEEP", "sk": pk}
