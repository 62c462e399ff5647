"""A task that waits for its token has patience, and fails with its request.

AWS: without a heartbeat for HeartbeatSeconds the task fails with States.HeartbeatTimeout, and
after TimeoutSeconds with States.Timeout. If the request itself fails (the function raised), the
task fails at once with that error.
MiniStack: ignores HeartbeatSeconds, and swallows a function's error, so that the task waits for
a token that nobody holds.
"""

import json
import threading
import time
from dataclasses import dataclass
from typing import Any

from ministack.services import stepfunctions

from relay.local.emulator import executions

_SUFFIX = ".waitForTaskToken"
_LOOK_AGAIN_S = 3600.0


def close() -> None:
    """Replace the wait for a token."""
    stepfunctions._invoke_with_callback = _wait_for_token


@dataclass(frozen=True)
class Patience:
    """How long a task may take, and how long it may be silent; None means for ever."""

    timeout_s: float | None
    heartbeat_s: float | None

    def left_s(self, started: float, last_sign: float, now: float) -> float:
        """Seconds until the next limit.

        Raises:
            _ExecutionError: A limit has passed.
        """
        left = _LOOK_AGAIN_S
        for limit, since, error in (
            (self.timeout_s, started, "States.Timeout"),
            (self.heartbeat_s, last_sign, "States.HeartbeatTimeout"),
        ):
            if limit is None:
                continue
            if now >= since + limit:
                raise stepfunctions._ExecutionError(error, f"No sign of the task in {limit:g} s")
            left = min(left, since + limit - now)
        return left


class Pending(dict[str, Any]):
    """A task that waits, in the shape that MiniStack's SendTask calls write to."""

    def __init__(self) -> None:
        """Start the clock."""
        super().__init__(event=threading.Event(), result=None, error=None, heartbeat=None)
        self.started = self.last_sign = time.monotonic()

    def __setitem__(self, key: str, value: object) -> None:
        """Note when a heartbeat arrives."""
        super().__setitem__(key, value)
        if key == "heartbeat":
            self.last_sign = time.monotonic()

    def wait(self, patience: Patience, running: executions.Running) -> Any:  # noqa: ANN401
        """Wait for the outcome, a limit or the execution's end."""
        event: threading.Event = self["event"]
        running.waiting_for.add(event)
        try:
            while True:
                running.check()
                left = patience.left_s(self.started, self.last_sign, time.monotonic())
                if event.wait(left):
                    running.check()
                    return self._outcome()
        finally:
            running.waiting_for.discard(event)

    def _outcome(self) -> Any:  # noqa: ANN401 - any JSON
        if failure := self["error"]:
            raise stepfunctions._ExecutionError(failure["Error"], failure["Cause"])
        return json.loads(self["result"])


def _wait_for_token(
    resource: str, request: dict[str, Any], token: str, state: dict[str, Any]
) -> Any:  # noqa: ANN401 - any JSON
    pending = Pending()
    stepfunctions._task_tokens[token] = pending
    try:
        stepfunctions._invoke_resource(resource.replace(_SUFFIX, ""), request)
        patience = Patience(state.get("TimeoutSeconds"), state.get("HeartbeatSeconds"))
        return pending.wait(patience, executions.current())
    finally:
        stepfunctions._task_tokens.pop(token, None)
