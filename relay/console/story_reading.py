"""Reading all that a run's story is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from contracts import layout
from contracts.errors import ContractBroken
from contracts.ledger import AttemptRecord
from contracts.names import AttemptKey
from contracts.plan import Plan
from contracts.result import PhaseResult
from relay.console.control_plane import ControlPlane
from relay.console.execution_history import visits
from relay.console.story import RunStory
from relay.console.storytelling import Sources, tell

_PLAN_BYTES_MAX = 64 * 1024 * 1024


@dataclass
class StoryReader:
    """Reads one run again and again; what can no longer change is read once."""

    plane: ControlPlane
    run: str
    _results: dict[AttemptKey, PhaseResult] = field(default_factory=dict)
    _rounds: int = 0

    def read(self) -> RunStory:
        """The run's story as it is now.

        Raises:
            NotFound: there is no such run.
        """
        record = self.plane.run(self.run)
        attempts = self.plane.logic.ledger.attempts.of_run(self.run)
        arn = self.plane.execution_arn(self.run)
        try:
            execution = self.plane.sfn.describe_execution(executionArn=arn)
            history = list(self._history(arn))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
            execution, history = {}, []
        return tell(
            Sources(
                record=record,
                attempts=attempts,
                visits=visits(history),
                execution=arn,
                status=execution.get("status", ""),
                error=execution.get("error", ""),
                cause=execution.get("cause", ""),
                stopped_at=execution.get("stopDate"),
                results=self._results_of(attempts),
                rounds=self._rounds_of(record.drops),
            )
        )

    def _history(self, arn: str) -> Iterator[dict[str, Any]]:
        pages = self.plane.sfn.get_paginator("get_execution_history")
        for page in pages.paginate(executionArn=arn, includeExecutionData=False):
            yield from page["events"]

    def _results_of(self, attempts: list[AttemptRecord]) -> dict[AttemptKey, PhaseResult]:
        for record in attempts:
            key = AttemptKey(record.run, record.round, record.phase, record.attempt)
            if key not in self._results:
                self._look_for_result(key, record)
        return self._results

    def _look_for_result(self, key: AttemptKey, record: AttemptRecord) -> None:
        """Step Functions hears of a result before the ledger does, so look at the object."""
        place = record.output.result_key if record.output else layout.result(key)
        body = self.plane.get(place)
        if body is None:
            return
        try:
            result = PhaseResult.from_bytes(body, where=place)
        except ContractBroken:
            # What a job left is shown as far as it can be read; the ledger has its outcome.
            return
        if record.output or result.nonce == record.nonce:
            self._results[key] = result

    def _rounds_of(self, drops: int) -> int:
        if not self._rounds and drops:
            place = layout.plan(self.run)
            body = self.plane.get(place, _PLAN_BYTES_MAX)
            if body is not None:
                self._rounds = len(Plan.from_bytes(body, where=place).pipeline.rounds)
        return self._rounds
