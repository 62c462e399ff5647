"""Policy versions in the ledger: a chain, moved by condition."""

from __future__ import annotations

from contracts import ledger
from contracts.policy import PolicyVersion
from lambdas.ledger.table import Table


class Policies:
    """A pipeline's published checkpoints."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, pipeline: str, version: int) -> PolicyVersion | None:
        """A version, or None."""
        item = self._table.get(ledger.policy_key(pipeline, version))
        return None if item is None else _version(item)

    def all(self, pipeline: str) -> list[PolicyVersion]:
        """Every version, the oldest first."""
        return [_version(i) for i in self._table.query(f"PIPELINE#{pipeline}", "POLICY#")]

    def publish(self, version: PolicyVersion, *, in_turn: bool = False) -> bool:
        """Write a version and make it current, if its parent still is.

        Version 0 has no parent: it becomes current where none is.

        Args:
            version: the version.
            in_turn: whether its run has to hold the pipeline's lease, too: whoever ended the run
                while its export was verified has given the turn to another.
        """
        key = ledger.pipeline_key(version.pipeline)
        if version.parent is None:
            when, values = "attribute_not_exists(#current_version)", {}
        else:
            when, values = "#current_version = :parent", {":parent": version.parent}
        lease = self._table.check(
            ledger.lease_key(version.pipeline), when="#run = :run", values={":run": version.run}
        )
        return self._table.transact(
            *([lease] if in_turn else []),
            self._table.put(
                ledger.policy_key(version.pipeline, version.version),
                version.model_dump(mode="json", exclude_none=True),
            ),
            self._table.update(
                key,
                set_={"name": version.pipeline, "current_version": version.version},
                when=when,
                values=values,
            ),
        )


def _version(item: dict[str, object]) -> PolicyVersion:
    fields = {name: item[name] for name in PolicyVersion.model_fields if name in item}
    return PolicyVersion.model_validate({"parent": None, **fields})
