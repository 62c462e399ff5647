"""A whole control plane in memory, with its real handlers, an agent and a graph around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal
from unittest import mock

import lambdas.decide.handler
import lambdas.intake.handler
import lambdas.report.handler
import lambdas.submit.handler
import lambdas.sweep.handler
from contracts import layout
from contracts.ledger import AttemptRecord, DropRecord, RunRecord, SetObject
from contracts.names import drop_id
from contracts.pipeline import Pipeline
from fakes import events
from fakes.agent import ModelAgent
from fakes.clock import FakeClock
from fakes.context import CONTEXT
from fakes.doorbells import FakeJobQueue
from fakes.executions import FakeExecutions
from fakes.faults import Crash, Faults, Faulty
from fakes.objects import FakeObjects
from fakes.run_graph import RunGraph
from fakes.table import FakeTable
from lambdas.adapters.queue_runner import QueueRunner
from lambdas.control_plane import ControlPlane
from lambdas.ledger.ledger import Ledger
from lambdas.logic.upload_key import read_upload_key
from lambdas.observing import metrics

_HANDLERS = (
    lambdas.intake.handler,
    lambdas.submit.handler,
    lambdas.report.handler,
    lambdas.decide.handler,
    lambdas.sweep.handler,
)
_QUIET_TURNS = 600
Queue = Literal["uploads", "reports"]
ROWS = b'{"messages": []}\n'


@contextmanager
def using(plane: ControlPlane) -> Iterator[Counter[str]]:
    """Have every handler work on this control plane; what they count is kept, not printed."""
    counted: Counter[str] = Counter()

    def count(name: str, unit: object, value: float) -> None:
        counted[name] += int(value)

    with ExitStack() as stack:
        for module in _HANDLERS:
            stack.enter_context(mock.patch.object(module, "control_plane", return_value=plane))
        stack.enter_context(mock.patch.object(metrics, "add_metric", count))
        stack.enter_context(mock.patch.object(metrics.provider, "flush_metrics"))
        yield counted


class World:
    """Everything there is; events that S3 and Step Functions send collect in `mail`."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.table = FakeTable()
        self.mail: list[tuple[Queue, str]] = []
        self.told: list[tuple[Queue, str]] = []
        self.ended: set[str] = set()
        self.pipelines: list[str] = []
        self.counted: Counter[str] = Counter()
        self.objects = FakeObjects(told=self._tell)
        self.executions = FakeExecutions(self.clock)
        self.queue = FakeJobQueue()
        self.agent = ModelAgent(self.objects, self.queue, self.clock)
        self.faults = Faults()
        objects: Any = Faulty(self.objects, self.faults, "put", "put_if_absent")
        table: Any = Faulty(self.table, self.faults, "write", "transact")
        executions: Any = Faulty(
            self.executions, self.faults, "start", "heartbeat", "succeed", "fail"
        )
        queue: Any = Faulty(self.queue, self.faults, "send_message")
        self.plane = ControlPlane(
            ledger=Ledger(table),
            objects=objects,
            executions=executions,
            runner=QueueRunner(objects, queue, "https://sqs/jobs", self.clock),
            clock=self.clock,
            workspace_root="/workspace",
            progress_interval_s=15,
            at_once=1,
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
        self.pipelines.append(pipeline.name)

    def upload(self, key: str, body: bytes = ROWS) -> str:
        """Put an object as a team does; its version."""
        return self.objects.add(key, body)

    def deliver(self, queue: Queue, *bodies: str) -> list[str]:
        """Hand messages to their function; ids of those that stay in the queue."""
        module = lambdas.intake.handler if queue == "uploads" else lambdas.report.handler
        return events.failed_in(module.handler(events.batch(*bodies), CONTEXT))

    def hand_over(self, queue: Queue, body: str) -> bool:
        """Deliver one message; whether its function took it and lived."""
        self.told.append((queue, body))
        try:
            return not self.deliver(queue, body)
        except Crash:
            return False

    def deliver_all(self) -> None:
        """Deliver what is in the mail; what fails stays in it."""
        mail, self.mail = self.mail, []
        for queue, body in mail:
            if not self.hand_over(queue, body):
                self.mail.append((queue, body))

    def drop(self, key: str, version: str) -> DropRecord | None:
        """What the ledger knows of an upload."""
        return self.ledger.drops.get(drop_id(self.objects.bucket, key, version))

    def set_object(self, key: str, version: str) -> SetObject | None:
        """What the ledger knows of a file of a set."""
        upload = read_upload_key(key)
        identity = drop_id(self.objects.bucket, key, version)
        return self.ledger.sets.object(upload.pipeline, upload.folder, identity)

    def runs(self, pipeline: str) -> list[RunRecord]:
        """A pipeline's runs, the oldest first."""
        items = [item for (_, sk), item in sorted(self.table.items.items()) if sk == "RUN"]
        records = [RunRecord.model_validate(item) for item in items]
        return [record for record in records if record.pipeline == pipeline]

    def attempts(self, run: str) -> list[AttemptRecord]:
        """A run's attempts."""
        return self.ledger.attempts.of_run(run)

    def start_run(self, pipeline: str = "tone") -> str:
        """Upload a drop and let its run be planned; the run's id."""
        self.upload(f"incoming/{pipeline}/drop {len(self.objects.versions)}.jsonl", b'{"a": 1}')
        self.deliver_all()
        run = self.runs(pipeline)[-1].run
        self.graph.step(run)
        return run

    def until(self, run: str, at: str) -> None:
        """Let everyone work until the run has submitted the job of a phase, or asks `at`."""
        for _ in range(_QUIET_TURNS):
            walk = self.graph.walks.get(run)
            if (
                walk
                and walk.at == at
                and (walk.token is not None or at in {"next", "publish", "keep"})
            ):
                return
            self.move_on()
        raise AssertionError(f"{run} never came to {at}: {self.graph.walks.get(run)}")

    def end_run(self, run: str) -> None:
        """Let everyone work until the run is over and closed."""
        for _ in range(_QUIET_TURNS):
            self.move_on()
            if self.ledger.runs.lease(self.executions.inputs[run]) is None:
                return
        raise AssertionError(f"{run} did not end")

    def sweep(self) -> dict[str, int]:
        found: dict[str, int] = lambdas.sweep.handler.handler({}, CONTEXT)
        return found

    def tell_ends(self) -> None:
        """EventBridge's word on executions that ended, once each."""
        for run, state in self.executions.states.items():
            if state.status != "RUNNING" and run not in self.ended:
                self.ended.add(run)
                self.mail.append(("reports", events.execution_ended(run, state.status)))

    def move_on(self, *, finishes: bool = True) -> None:
        """Everyone does their work once, as they should."""
        self.deliver_all()
        self.agent.answer_bell()
        for key in list(self.agent.jobs):
            self.agent.look(key)
        for key in list(self.agent.jobs) if finishes else ():
            self.agent.finish(key, "succeeded")
        for run in self.graph.running():
            self.graph.step(run)
        self.tell_ends()

    def come_to_rest(self) -> None:
        """Faults stop, sweeps look, an operator resumes what is paused; until all is quiet."""
        self.faults.disarm()
        self.agent.restart()
        for _ in range(_QUIET_TURNS):
            self.move_on()
            for name in self.pipelines:
                self.ledger.pipelines.resume(name)
            assert self.sweep()["failed"] == 0
            if self._is_quiet():
                return
            self.clock.advance(20)
            self.agent.meet_deadlines()
        raise AssertionError(f"I6: no rest after {_QUIET_TURNS} turns: {self.table.items}")

    def _is_quiet(self) -> bool:
        waits = any(sk == "LEASE" or sk.startswith("WAITING") for _, sk in self.table.items)
        jobs = any(pk == "JOBS" for pk, _ in self.table.items)
        return not (waits or jobs or self.mail or self.graph.running() or self.agent.jobs)

    def _tell(self, key: str, version: str, size: int) -> None:
        body = events.created(self.objects.bucket, key, version, size)
        if key.startswith(layout.INCOMING):
            self.mail.append(("uploads", body))
        elif key.startswith(layout.RUNS) and key.endswith(("/progress.json", "/result.json")):
            self.mail.append(("reports", body))
