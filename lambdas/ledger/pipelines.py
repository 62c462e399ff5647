"""What the ledger knows of pipelines besides their recipes."""

from __future__ import annotations

from contracts import ledger
from contracts.ledger import PipelineRecord
from lambdas.ledger.table import Table
from lambdas.ledger.turns import Turns


class Pipelines:
    """Pipelines that were ever dropped into."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, name: str) -> PipelineRecord:
        """A pipeline's record; a fresh one when nothing is known of it."""
        item = self._table.get(ledger.pipeline_key(name))
        return PipelineRecord(name=name) if item is None else PipelineRecord.model_validate(item)

    def note(self, name: str) -> None:
        """Make sure that sweep knows of the pipeline."""
        self._table.write(self._table.put(ledger.pipeline_key(name), {"name": name}))

    def resume(self, name: str) -> bool:
        """Let a paused pipeline run again; False when it was not paused."""
        return self._table.write(
            self._table.update(
                ledger.pipeline_key(name),
                set_={"paused": False, "consecutive_failures": 0},
                when="#paused = :yes",
                values={":yes": True},
            )
        )

    def next_for_sweep(self, count: int) -> list[PipelineRecord]:
        """The next `count` pipelines after those of the last turn, round and round."""
        found = Turns(self._table).next(ledger.PIPELINES, count)
        return [PipelineRecord.model_validate(item) for item in found]

    def stopped_at(self, last: PipelineRecord) -> None:
        """Sweep came no further in its turn: the next begins behind this one."""
        Turns(self._table).stopped_at(ledger.PIPELINES, last.name)
