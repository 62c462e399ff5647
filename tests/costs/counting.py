"""The control plane in memory, with every request that would be paid for counted."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest import mock

import fakes.world
from fakes.doorbells import FakeJobQueue
from fakes.objects import FakeObjects
from fakes.recipes import pipeline
from fakes.table import FakeTable, _key
from fakes.world import World, using

import lambdas.decide.handler
import lambdas.intake.handler
import lambdas.report.handler
import lambdas.submit.handler
import lambdas.sweep.handler
from lambdas.adapters.queue_runner import QueueRunner
from lambdas.ledger.ledger import Ledger
from lambdas.ledger.table import Write

READ, WRITE = "DynamoDB read units", "DynamoDB write units"
GET, PUT, MESSAGE, CALL = "S3 GETs", "S3 PUTs", "SQS requests", "function calls"
KINDS = (CALL, READ, WRITE, GET, PUT, MESSAGE)
READ_UNIT, WRITE_UNIT = 4096, 1024
REQUESTS_A_MESSAGE = 3
"""Sent, received, deleted; in batches it is fewer."""

Counts = Counter[str]


class CountedTable(FakeTable):
    """Counts capacity units as on-demand tables charge them: strongly consistent, by size."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self.counts = counts

    def get(self, key: Any) -> Any:
        found = super().get(key)
        self.counts[READ] += _units(found or {}, READ_UNIT)
        return found

    def query(self, *args: Any, **how: Any) -> Iterator[Any]:
        found = list(super().query(*args, **how))
        size = sum(len(json.dumps(item, default=str)) for item in found)
        self.counts[READ] += max(1, math.ceil(size / READ_UNIT))
        return iter(found)

    def write(self, part: Write) -> bool:
        return self._counted((part,), 1)

    def transact(self, *parts: Write) -> bool:
        return self._counted(parts, 2)

    def _counted(self, parts: tuple[Write, ...], times: int) -> bool:
        before = {_key(part): self.items.get(_key(part), {}) for part in parts}
        done = super().transact(*parts)
        for key, item in before.items():
            larger = max(item, self.items.get(key, {}), key=lambda one: len(str(one)))
            self.counts[WRITE] += times * _units(larger, WRITE_UNIT)
        return done


def _units(item: Mapping[str, Any], unit: int) -> int:
    return max(1, math.ceil(len(json.dumps(item, default=str)) / unit))


class CountedObjects:
    """Counts requests to S3."""

    _KINDS: Mapping[str, str] = {
        "get": GET,
        "get_range": GET,
        "head": GET,
        "put": PUT,
        "put_if_absent": PUT,
    }

    def __init__(self, inner: FakeObjects, counts: Counts) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        if name in self._KINDS:
            self._counts[self._KINDS[name]] += 1
        return getattr(self._inner, name)


class CountedQueue:
    """Counts doorbells."""

    def __init__(self, inner: FakeJobQueue, counts: Counts) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        self._counts[MESSAGE] += REQUESTS_A_MESSAGE if name == "send_message" else 0
        return getattr(self._inner, name)


@dataclass
class Counting:
    """A world, and what was counted since the last look."""

    world: World
    counts: Counts

    def during(self, work: Callable[[], object]) -> Counts:
        """What a piece of work takes."""
        self.counts.clear()
        work()
        return Counter(self.counts)


@contextmanager
def counting(pipelines: int = 1) -> Iterator[Counting]:
    """A world whose requests are counted, those of jobs and their agent, too."""
    counts: Counts = Counter()
    with ExitStack() as stack:
        for module in (
            lambdas.intake.handler,
            lambdas.submit.handler,
            lambdas.report.handler,
            lambdas.decide.handler,
            lambdas.sweep.handler,
        ):
            stack.enter_context(
                mock.patch.object(module, "handler", _called(module.handler, counts))
            )
        stack.enter_context(
            mock.patch.object(fakes.world, "FakeTable", partial(CountedTable, counts))
        )
        world = World()
        for number in range(pipelines):
            world.register(pipeline(f"tone-{number}"))
        objects: Any = CountedObjects(world.objects, counts)
        world.agent.objects = objects
        runner = QueueRunner(objects, _queue(world, counts), "https://sqs/jobs", world.clock)
        world.plane = replace(
            world.plane, ledger=Ledger(world.table), objects=objects, runner=runner
        )
        stack.enter_context(using(world.plane))
        yield Counting(world, counts)


def _queue(world: World, counts: Counts) -> Any:
    return CountedQueue(world.queue, counts)


def _called(handler: Callable[..., Any], counts: Counts) -> Callable[..., Any]:
    def call(event: dict[str, Any], context: object) -> Any:
        counts[CALL] += 1
        counts[MESSAGE] += REQUESTS_A_MESSAGE * len(event.get("Records", []))
        return handler(event, context)

    return call
