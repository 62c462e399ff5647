"""Step Functions' executions and task tokens, stricter than AWS.

Contract, as `lambdas.ports.Executions` demands and beyond:

- An execution's name is burnt for good: a second start with the same input changes nothing,
  whether the first still runs or has ended; with another input it is an error of the test.
- A token takes heartbeats until its one outcome. The first outcome counts; whatever comes after
  an outcome, after the task timed out or after the execution ended is late (False).
- A token that was never issued is an error of the test: AWS would only call it late.
- Outputs are JSON of at most 256 KiB, errors at most 256 characters, causes at most 32,768.
- Nothing is ever shown as RUNNING again once it has ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from lambdas.ports import Clock, ExecutionState

Ended = Literal["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]


class Outcome(NamedTuple):
    """What a task was told."""

    succeeded: bool
    output: bytes
    error: str
    cause: str


@dataclass
class Task:
    """One token."""

    run: str
    open: bool
    heard_at: datetime
    issued_at: datetime
    heartbeats: int = 0
    outcome: Outcome | None = None


@dataclass
class FakeExecutions:
    """Fulfils `lambdas.ports.Executions`; the other methods are for whoever plays the service."""

    clock: Clock
    inputs: dict[str, str] = field(default_factory=dict)
    states: dict[str, ExecutionState] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)

    def start(self, pipeline: str, run: str) -> None:
        before = self.inputs.setdefault(run, pipeline)
        assert before == pipeline, f"execution {run} was started with another input"
        self.states.setdefault(run, ExecutionState("RUNNING", "", ""))

    def describe(self, run: str) -> ExecutionState | None:
        return self.states.get(run)

    def heartbeat(self, token: str) -> bool:
        task = self._waiting(token)
        if task is None:
            return False
        task.heard_at = self.clock.now()
        task.heartbeats += 1
        return True

    def succeed(self, token: str, output: bytes) -> bool:
        json.loads(output)
        assert len(output) <= 256 * 1024
        return self._end(token, Outcome(True, output, "", ""))

    def fail(self, token: str, error: str, cause: str) -> bool:
        assert len(error) <= 256
        assert len(cause) <= 32_768
        return self._end(token, Outcome(False, b"", error, cause))

    def issue(self, run: str) -> str:
        """Enter a task of a running execution: a token that nobody has seen before."""
        assert self.states[run].status == "RUNNING"
        now = self.clock.now()
        token = f"token-{len(self.tasks) + 1:04d}-of-{run}"
        self.tasks[token] = Task(run, True, now, now)
        return token

    def expire(self, token: str) -> None:
        """The task timed out: the token is late from now on."""
        self.tasks[token].open = False

    def end(self, run: str, status: Ended, error: str = "", cause: str = "") -> None:
        """The execution is over, and with it all its tasks."""
        assert self.states[run].status == "RUNNING", "what has ended does not end again"
        self.states[run] = ExecutionState(status, error, cause)
        for task in self.tasks.values():
            if task.run == run:
                task.open = False

    def _end(self, token: str, outcome: Outcome) -> bool:
        task = self._waiting(token)
        if task is None:
            return False
        task.outcome = outcome
        task.open = False
        return True

    def _waiting(self, token: str) -> Task | None:
        assert token in self.tasks, f"token {token!r} was never issued"
        return self.tasks[token] if self.tasks[token].open else None
