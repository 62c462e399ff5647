"""An acknowledged write outlives the emulator's process, however that ends.

AWS: what was acknowledged is durable.
MiniStack: saves its services when it shuts down cleanly, so `kill -9` loses all but the bodies of
objects.

Two measures. Writes to buckets, queues and tables, deployments, and starts of executions, are
answered only once they are on disk. All else (progress of executions, what functions and
schedules cause) is saved about a second after it happens.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from ministack import app as gateway
from ministack.core import persistence
from ministack.services import lambda_svc, s3, stepfunctions

from relay.local.emulator.gaps import restarts
from relay.local.emulator.journal import Journal
from relay.local.emulator.requests import ANY, written_by

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]

_EVERY_S = 1.0
_SLOW_EVERY_S = 30.0
_SLOW = {"cloudwatch_logs", "cloudwatch", "cloudtrail"}
_CAUSED_BY_FUNCTIONS = {"sqs", "dynamodb", "s3", "stepfunctions"} | _SLOW
_TRIES = 10
_log = logging.getLogger("durability")


class Durability:
    """Knows which services changed, and writes those."""

    def __init__(self) -> None:
        """Nothing has changed yet."""
        self._changed: set[str] = set()
        self._written: dict[str, int] = {}
        self._turn = asyncio.Lock()
        self._journal = Journal()

    def watch(self) -> None:
        """Notice changes that no request makes, and let notifications precede the answer."""
        stepfunctions._add_event = self._noting({"stepfunctions"}, stepfunctions._add_event)
        lambda_svc._execute_function = self._noting(
            _CAUSED_BY_FUNCTIONS, lambda_svc._execute_function
        )
        restarts.remember = self._noting({"stepfunctions"}, restarts.remember)
        s3._fire_s3_event_async = self._noting({"sqs"}, _notify_now)
        self._journal.watch()

    def around(self, app: App) -> App:
        """The app, answering a write only when it is on disk."""

        async def durable(scope: Scope, receive: object, send: Send) -> None:
            written = written_by(scope) if scope["type"] == "http" else None
            if written is None:
                await app(scope, receive, send)
                return

            async def send_when_saved(message: dict[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    self._changed |= self._named(written.services)
                    self._journal.flush()
                    await self.save(self._named(written.at_once))
                await send(message)

            await app(scope, receive, send_when_saved)

        return durable

    async def keep_saving(self) -> None:
        """Save what changed, again and again; logs and metrics seldom."""
        loop = asyncio.get_running_loop()
        slow_at = loop.time() + _SLOW_EVERY_S
        while True:
            started = loop.time()
            due = self._changed - _SLOW
            if started >= slow_at:
                due, slow_at = set(self._changed), started + _SLOW_EVERY_S
            await self.save(due)
            # A large state must not keep a small machine busy.
            await asyncio.sleep(max(_EVERY_S, 5 * (loop.time() - started)))

    async def save(self, services: Iterable[str]) -> None:
        """Write the services that changed since they were last written."""
        for name in services:
            # Whoever has the turn may be writing this very service; then it is waited for.
            async with self._turn:
                if name in self._changed:
                    await self._save_one(name)

    async def _save_one(self, name: str) -> None:
        get_state = gateway._build_persistence_save_dict().get(name)
        self._changed.discard(name)
        if get_state is None:
            return
        # Taken on the event loop, between requests, so that no request is half in it.
        text = _serialised(name, get_state)
        if text is None:
            self._changed.add(name)
            return
        if name == "dynamodb":
            self._journal.seal()
        if self._written.get(name) != hash(text):
            await asyncio.to_thread(_write, name, text)
            self._written[name] = hash(text)
        if name == "dynamodb":
            self._journal.drop_sealed()

    async def save_all(self) -> None:
        """Write every service, changed or not."""
        names = set(gateway._state_map)
        self._changed |= names
        await self.save(names)

    def _named(self, services: frozenset[str]) -> set[str]:
        return set(gateway._state_map) if ANY in services else set(services)

    def _noting(self, services: set[str], function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: object, **named: object) -> Any:  # noqa: ANN401 - MiniStack's value
            try:
                return function(*given, **named)
            finally:
                self._changed |= services

        return call


def _serialised(name: str, get_state: Callable[[], Any]) -> str | None:
    version = persistence._state_format_version(name)
    for _ in range(_TRIES):
        try:
            saved = {"__ministack_format__": version, "payload": get_state()}
            return json.dumps(saved, default=persistence._json_default)
        except RuntimeError:
            # A background thread changed a dictionary under the copy.
            continue
    _log.warning("State of %s changes too fast to be saved just now", name)
    return None


def _write(name: str, text: str) -> None:
    path = Path(persistence.STATE_DIR) / f"{name}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(path)


def _notify_now(bucket: str, key: str, event: str, *details: object, **named: object) -> None:
    """Put the notification into its queue before the write of the object is answered."""
    if bucket not in s3._bucket_notifications:
        return
    named.setdefault("sequencer", s3._next_event_sequencer(event))
    s3._fire_s3_event(bucket, key, event, *details, **named)
