"""The state machine's graph as a model: what it asks, what it retries, when it loses patience."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from contracts.errors import TransientError, names_below
from fakes.clock import FakeClock
from fakes.context import CONTEXT
from fakes.executions import FakeExecutions
from fakes.faults import Crash

Handler = Callable[[dict[str, Any], Any], Any]
_AFTER = {"collect": "optimize", "optimize": "evaluate", "evaluate": "next"}
_RETRIES = {"waiting": 200, "job": 9, "HeartbeatTimeout": 9, "Timeout": 9, "call": 6}
CRASHED = "Lambda.Unknown"


@dataclass
class Walk:
    """Where an execution is."""

    state: dict[str, Any]
    at: str = "plan"
    token: str | None = None
    tries: dict[str, int] = field(default_factory=dict)


class RunGraph:
    """Plays Step Functions for every running execution, one state's try a step."""

    def __init__(
        self, executions: FakeExecutions, clock: FakeClock, decide: Handler, submit: Handler
    ) -> None:
        self._executions = executions
        self._clock = clock
        self._decide = decide
        self._submit = submit
        self.walks: dict[str, Walk] = {}

    def running(self) -> list[str]:
        """Runs whose executions run."""
        return [run for run, s in self._executions.states.items() if s.status == "RUNNING"]

    def step(self, run: str) -> None:
        """One try of the state in which the execution is."""
        if self._executions.states[run].status != "RUNNING":
            return
        start = {"pipeline": self._executions.inputs[run], "run": run}
        walk = self.walks.setdefault(run, Walk(start))
        if walk.at in _AFTER:
            self._phase(run, walk)
        else:
            self._ask(run, walk)

    def abort(self, run: str) -> None:
        """As an operator's stop does."""
        self._executions.end(run, "ABORTED")

    def _ask(self, run: str, walk: Walk) -> None:
        question = walk.at
        try:
            answer = self._decide({"question": question, "state": walk.state}, CONTEXT)
        except Crash:
            self._retry_call(run, walk, CRASHED, "")
            return
        except Exception as error:
            self._retry_call(run, walk, type(error).__name__, str(error))
            return
        walk.tries = {}
        if question == "plan":
            walk.state = {**walk.state, "plan": answer, "round": 1}
            walk.at = "keep" if answer["outcome"] == "nothing_waiting" else "collect"
        elif question == "next":
            walk.state = {**walk.state, "decision": answer, "round": answer["round"]}
            walk.at = {"next_round": "collect"}.get(answer["next"], answer["next"])
        else:
            self._executions.end(run, "SUCCEEDED")

    def _phase(self, run: str, walk: Walk) -> None:
        if walk.token is None:
            self._enter(run, walk)
            return
        task = self._executions.tasks[walk.token]
        now = self._clock.now()
        if task.outcome is not None and task.outcome.succeeded:
            output = json.loads(task.outcome.output)
            walk.state = {**walk.state, walk.at: output}
            walk.at = "keep" if output["outcome"] == "no_data" else _AFTER[walk.at]
            walk.token, walk.tries = None, {}
        elif task.outcome is not None:
            self._retry_phase(run, walk, task.outcome.error, task.outcome.cause)
        elif now > task.heard_at + timedelta(seconds=walk.state["plan"]["heartbeat_s"]):
            self._retry_phase(run, walk, "States.HeartbeatTimeout", "")
        elif now > task.issued_at + timedelta(seconds=walk.state["plan"]["timeout_s"]):
            self._retry_phase(run, walk, "States.Timeout", "")

    def _enter(self, run: str, walk: Walk) -> None:
        walk.token = self._executions.issue(run)
        names = {"collect": [], "optimize": ["collect"], "evaluate": ["collect", "optimize"]}
        named = names[walk.at]
        if walk.at == "collect" and walk.state["round"] > 1:
            named = ["optimize"]
        payload = {
            "run": run,
            "pipeline": walk.state["pipeline"],
            "round": walk.state["round"],
            "phase": walk.at,
            "token": walk.token,
            "inputs": {name: walk.state[name] for name in named},
        }
        try:
            self._submit(payload, CONTEXT)
        except Crash:
            self._retry_phase(run, walk, CRASHED, "")
        except Exception as error:
            self._retry_phase(run, walk, type(error).__name__, str(error))

    def _retry_phase(self, run: str, walk: Walk, error: str, cause: str) -> None:
        assert walk.token is not None
        self._executions.expire(walk.token)
        walk.token = None
        if error == "PreviousJobStillRunning":
            self._count(run, walk, "waiting", error, cause)
        elif error in {"States.HeartbeatTimeout", "States.Timeout"}:
            self._count(run, walk, error.removeprefix("States."), error, cause)
        elif error in {"ServiceUnavailable", CRASHED}:
            self._count(run, walk, "call", error, cause)
        elif error in names_below(TransientError):
            self._count(run, walk, "job", error, cause)
        else:
            self._executions.end(run, "FAILED", error, cause)

    def _retry_call(self, run: str, walk: Walk, error: str, cause: str) -> None:
        if error == CRASHED or error in names_below(TransientError):
            self._count(run, walk, "call", error, cause)
        else:
            self._executions.end(run, "FAILED", error, cause)

    def _count(self, run: str, walk: Walk, kind: str, error: str, cause: str) -> None:
        walk.tries[kind] = walk.tries.get(kind, 0) + 1
        if walk.tries[kind] > _RETRIES[kind]:
            self._executions.end(run, "FAILED", error, cause)
