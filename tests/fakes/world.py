"""A whole control plane in memory, with its real handlers, an agent and a graph around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from unittest import mock

import lambdas.decide.handler
import lambdas.intake.handler
import lambdas.report.handler
import lambdas.submit.handler
import lambdas.sweep.handler
from contracts import layout
from contracts.pipeline import Pipeline
from fakes import events
from fakes.agent import ModelAgent
from fakes.clock import FakeClock
from fakes.doorbells import FakeJobQueue
from fakes.executions import FakeExecutions
from fakes.faults import Faults, Faulty
from fakes.objects import FakeObjects
from fakes.run_graph import RunGraph
from fakes.table import FakeTable
from lambdas.adapters.queue_runner import QueueRunner
from lambdas.control_plane import ControlPlane
from lambdas.ledger.ledger import Ledger

_HANDLERS = (
    lambdas.intake.handler,
    lambdas.submit.handler,
    lambdas.report.handler,
    lambdas.decide.handler,
    lambdas.sweep.handler,
)
_TABLE = ("get", "query", "write", "transact")
_OBJECTS = ("get", "get_range", "head", "put", "put_if_absent")
_EXECUTIONS = ("start", "describe", "heartbeat", "succeed", "fail")
ROWS = b'{"messages": []}\n'


@contextmanager
def using(plane: ControlPlane) -> Iterator[None]:
    """Have every handler work on this control plane."""
    patches = [
        mock.patch.object(module, "control_plane", return_value=plane) for module in _HANDLERS
    ]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


class World:
    """Everything there is; events that S3 and Step Functions send collect in `mail`."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.table = FakeTable()
        self.mail: list[tuple[Literal["uploads", "reports"], str]] = []
        self.objects = FakeObjects(told=self._tell)
        self.executions = FakeExecutions(self.clock)
        self.queue = FakeJobQueue()
        self.agent = ModelAgent(self.objects, self.queue, self.clock)
        self.faults = Faults()
        objects: Any = Faulty(self.objects, self.faults, *_OBJECTS)
        table: Any = Faulty(self.table, self.faults, *_TABLE)
        executions: Any = Faulty(self.executions, self.faults, *_EXECUTIONS)
        queue: Any = Faulty(self.queue, self.faults, "send_message")
        self.plane = ControlPlane(
            ledger=Ledger(table),
            objects=objects,
            executions=executions,
            runner=QueueRunner(objects, queue, "https://sqs/jobs", self.clock),
            clock=self.clock,
            workspace_root="/workspace",
            progress_interval_s=15,
        )
        self.ledger = Ledger(self.table)
        self.graph = RunGraph(
            self.executions,
            self.clock,
            lambdas.decide.handler.handler,
            lambdas.submit.handler.handler,
        )

    def register(self, pipeline: Pipeline) -> None:
        self.objects.put(layout.pipeline(pipeline.name), pipeline.to_bytes())

    def upload(self, key: str, body: bytes = ROWS) -> str:
        """Put an object as a team does; its version."""
        return self.objects.add(key, body)

    def deliver(self, queue: Literal["uploads", "reports"], *bodies: str) -> list[str]:
        """Hand messages to their function; ids of those that stay in the queue."""
        module = lambdas.intake.handler if queue == "uploads" else lambdas.report.handler
        return events.failed_in(module.handler(events.batch(*bodies), None))

    def deliver_all(self) -> list[str]:
        """Deliver what is in the mail, and what that brings."""
        failed: list[str] = []
        while self.mail:
            queue, body = self.mail.pop(0)
            failed += self.deliver(queue, body)
        return failed

    def sweep(self) -> dict[str, int]:
        found: dict[str, int] = lambdas.sweep.handler.handler({}, None)
        return found

    def end_told(self, run: str) -> None:
        """EventBridge's word on an execution that ended."""
        self.mail.append(
            ("reports", events.execution_ended(run, self.executions.states[run].status))
        )

    def _tell(self, key: str, version: str, size: int) -> None:
        body = events.created(self.objects.bucket, key, version, size)
        if key.startswith(layout.INCOMING):
            self.mail.append(("uploads", body))
        elif key.startswith(layout.RUNS) and key.endswith(("/progress.json", "/result.json")):
            self.mail.append(("reports", body))
