"""An execution outlives the process that walks it, and so do the tokens that it waits for.

AWS: an execution survives anything.
MiniStack: fails every execution that runs when the process ends, and forgets its tokens.

After a restart an execution is walked again from its first state. What it had done by then is not
done again: a state that was left has its recorded output, and a task that waited goes on waiting
for the same token. One whose call was cut off is called again, with that token. Waits, timeouts and
counts of retries begin anew. We have no Map or Parallel state and no variables: an execution with
branches is failed as before, variables are lost. So is one whose state machine was changed in what
it had gone through, for MiniStack keeps no definition of an execution's own.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ministack.services import stepfunctions

from relay.local.emulator import executions
from relay.local.emulator.gaps import callbacks

Event = dict[str, Any]
Execution = dict[str, Any]
App = Callable[[dict[str, Any], Any, Callable[[dict[str, Any]], Awaitable[None]]], Awaitable[None]]

_WAITS_FOR = "waitsForToken"
_CALLED = "relay:called-before-the-restart"
"""A resource that MiniStack does not know, so that nothing is called."""
_ENTERED, _LEFT = "StateEntered", "StateExited"
_BRANCHING = {"MapStateEntered", "ParallelStateEntered"}


@dataclass
class Replay:
    """What one execution had done: the states it entered and left, the last of them entered."""

    steps: deque[Event]
    held: dict[str, Any] | None

    def next(self, kind: str, details: Event) -> Event:
        """The recorded event that stands for this one.

        Raises:
            _ExecutionError: something else happened then.
        """
        step = self.steps.popleft()
        if (step["type"], _name(step)) != (kind, _name(details)):
            raise stepfunctions._ExecutionError(
                "States.Runtime",
                f"the state machine was changed while the execution ran: it went through "
                f"{_name(step)}, where there is {_name(details)} now, and can't go on",
            )
        return step

    def outcome(self) -> tuple[Any, str] | None:
        """Output and successor of the state just entered, if it was left before the restart."""
        if not self.steps:
            return None
        left, following = self.steps[0], self.steps[1]
        output = json.loads(left["stateExitedEventDetails"]["output"])
        return output, following["stateEnteredEventDetails"]["name"]


_replays: dict[str, Replay] = {}


def close() -> None:
    """Take executions up again, and pass over what they had done."""
    stepfunctions.load_persisted_state = _resuming(stepfunctions.load_persisted_state)
    stepfunctions._add_event = _once(stepfunctions._add_event)
    stepfunctions._execute_task = _passing(stepfunctions._execute_task)
    stepfunctions._execute_wait = _passing(stepfunctions._execute_wait)
    stepfunctions._invoke_with_callback = _holding(stepfunctions._invoke_with_callback)
    callbacks.Pending.wait = _once_called(callbacks.Pending.wait)  # type: ignore[method-assign]


def around(app: App) -> App:
    """The app, going on with its executions as soon as it has started."""

    async def going_on(scope: dict[str, Any], receive: object, send: Any) -> None:  # noqa: ANN401
        async def send_and_go_on(message: dict[str, Any]) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                go_on()

        await app(scope, receive, send_and_go_on if scope["type"] == "lifespan" else send)

    return going_on


def go_on() -> None:
    """Walk every execution that was restored, each in its thread."""
    for arn in list(_replays):
        threading.Thread(target=stepfunctions._run_execution, args=(arn,), daemon=True).start()


def remember(execution: Execution, token: str | None, *, called: bool = False) -> None:
    """Record the token of an execution's task, and whether who is to answer it was called.

    Whoever saves has to hear of it.
    """
    execution[_WAITS_FOR] = token and {"token": token, "called": called}


def replay_of(execution: Execution) -> Replay:
    """What a saved execution did; a state that it had left without entering the next counts not."""
    events = execution["events"]
    if events and events[-1]["type"].endswith(_LEFT):
        events.pop()
    steps = deque(event for event in events if event["type"].endswith((_ENTERED, _LEFT)))
    return Replay(steps, execution.get(_WAITS_FOR))


def _resuming(restore: Callable[[Any], None]) -> Callable[[Any], None]:
    def restore_and_resume(data: Any) -> None:  # noqa: ANN401 - what MiniStack saved
        resumed = list(_resumable(data["executions"].all_values())) if data else []
        restore(data)
        for execution in resumed:
            execution.update(status=executions.RUNNING, stopDate=None, error=None, cause=None)
            _replays[execution["executionArn"]] = replay_of(execution)

    return restore_and_resume


def _resumable(saved: Iterable[Execution]) -> Iterable[Execution]:
    for execution in saved:
        branches = any(event["type"] in _BRANCHING for event in execution["events"])
        if execution["status"] == executions.RUNNING and not branches:
            yield execution


def _once(add: Callable[..., Event]) -> Callable[..., Event]:
    def add_once(execution: Execution, kind: str, details: Event | None = None) -> Event:
        replay = _replays.get(execution["executionArn"])
        if replay and replay.steps and kind.endswith((_ENTERED, _LEFT)):
            return replay.next(kind, details or {})
        return add(execution, kind, details)

    return add_once


def _passing(execute: Callable[..., Any]) -> Callable[..., Any]:
    def execute_or_pass(*given: Any) -> Any:  # noqa: ANN401 - state, input, perhaps execution, context
        replay = _replays.get(executions.current().arn)
        return (replay and replay.outcome()) or execute(*given)

    return execute_or_pass


def _holding(wait: Callable[..., Any]) -> Callable[..., Any]:
    def wait_and_hold(resource: str, request: object, token: str, state: object) -> Any:  # noqa: ANN401
        arn = executions.current().arn
        execution = stepfunctions._executions.get(arn)
        if execution is None:
            return wait(resource, request, token, state)
        replay = _replays.pop(arn, None)
        if replay and replay.held:
            resource = _CALLED if replay.held["called"] else resource
            request = json.loads(json.dumps(request).replace(token, replay.held["token"]))
            token = replay.held["token"]
        remember(execution, token)
        try:
            return wait(resource, request, token, state)
        finally:
            remember(execution, None)

    return wait_and_hold


def _once_called(wait: Callable[..., Any]) -> Callable[..., Any]:
    def note_and_wait(
        pending: callbacks.Pending, patience: callbacks.Patience, running: executions.Running
    ) -> Any:  # noqa: ANN401 - any JSON
        execution = stepfunctions._executions.get(running.arn)
        if execution and (held := execution.get(_WAITS_FOR)):
            remember(execution, held["token"], called=True)
        return wait(pending, patience, running)

    return note_and_wait


def _name(event: Event) -> str:
    details = event.get("stateEnteredEventDetails") or event["stateExitedEventDetails"]
    return str(details["name"])
