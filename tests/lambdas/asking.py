"""Questions to `decide`, asked as the state machine asks them, and what came of them."""

from __future__ import annotations

from typing import Any

from fakes.context import CONTEXT
from fakes.world import World

import lambdas.decide.handler
from contracts import layout
from contracts.plan import Plan
from contracts.policy import PolicyVersion

_ALL = 1 << 30


def ask(world: World, run: str, question: str) -> dict[str, Any]:
    walk = world.graph.walks.get(run)
    state = walk.state if walk else {"run": run, "pipeline": "tone"}
    answer: dict[str, Any] = lambdas.decide.handler.handler(
        {"question": question, "state": state}, CONTEXT
    )
    return answer


def plan_of(world: World, run: str) -> Plan:
    body = world.objects.get(layout.plan(run), limit=_ALL)
    assert body is not None
    return Plan.from_bytes(body, where="plan.json")


def uploaded(world: World, count: int, name: str = "tone") -> str:
    for number in range(count):
        world.upload(f"incoming/{name}/{len(world.told)} {number}.jsonl", b'{"a": 1}')
    world.deliver_all()
    return world.runs(name)[-1].run


def versions(world: World, name: str = "tone") -> list[PolicyVersion]:
    return world.ledger.policies.all(name)
