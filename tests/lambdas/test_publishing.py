"""Publish and keep: what becomes of a candidate that the gate passed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking import ask, plan_of, versions
from fakes.exports import WEIGHTS
from fakes.faults import Crash
from fakes.world import World

from contracts import layout
from contracts.artifact import MANIFEST
from contracts.errors import (
    ArtifactCorrupt,
    ContractBroken,
    PolicyConflict,
    RunNotOpen,
)
from lambdas.logic.retry_run import retry_run


@pytest.fixture
def judged(world: World) -> str:
    """A run that is about to publish."""
    run = world.start_run()
    world.until(run, "publish")
    return run


def test_publishing_again_changes_nothing(world: World, judged: str) -> None:
    first = ask(world, judged, "publish")
    before = (dict(world.table.items), dict(world.objects.versions))
    assert ask(world, judged, "publish") == first
    assert (world.table.items, world.objects.versions) == before


@pytest.mark.parametrize("crash_at", range(1, 6))
def test_publishing_that_crashed_at_any_effect_goes_on(
    world: World, judged: str, crash_at: int
) -> None:
    world.faults.arm(crash_at, "after")
    with pytest.raises(Crash):
        ask(world, judged, "publish")
    answer = ask(world, judged, "publish")
    assert (answer["outcome"], answer["version"]) == ("published", 1)
    assert [it.version for it in versions(world)] == [0, 1]
    world.end_run(judged)
    assert world.runs("tone")[0].status == "PUBLISHED"


@pytest.mark.parametrize("name", [WEIGHTS, MANIFEST])
@pytest.mark.parametrize("which", ["export", "initial"])
@pytest.mark.parametrize("harm", ["flip", "cut", "missing"])
def test_an_export_that_is_not_its_manifest_is_never_published(
    world: World, judged: str, name: str, which: str, harm: str
) -> None:
    prefix = (layout.policy if which == "export" else layout.initial_policy)("tone", judged)
    ((version, body),) = world.objects.versions[prefix + name]
    if harm == "missing":
        del world.objects.versions[prefix + name]
    else:
        changed = bytes([body[0] ^ 1]) + body[1:] if harm == "flip" else body[:-1]
        world.objects.versions[prefix + name] = [(version, changed)]
    with pytest.raises(ArtifactCorrupt, match=name):
        ask(world, judged, "publish")
    assert world.objects.head(layout.current_policy("tone")) is None or which == "export"
    assert [it.version for it in versions(world)] == ([0] if which == "export" else [])
    world.end_run(judged)
    (record,) = world.runs("tone")
    assert record.status == "FAILED"
    assert record.reason.startswith("ArtifactCorrupt: ")


@pytest.mark.parametrize("uri", ["file:///workspace/export/", "s3://elsewhere/policies/tone/x/"])
def test_an_export_outside_the_bucket_is_never_published(
    world: World, judged: str, uri: str
) -> None:
    world.graph.walks[judged].state["optimize"]["artifacts"]["export"]["uri"] = uri
    with pytest.raises(ArtifactCorrupt, match="bucket"):
        ask(world, judged, "publish")


def test_a_run_without_an_export_publishes_nothing(world: World, judged: str) -> None:
    del world.graph.walks[judged].state["optimize"]["artifacts"]["export"]
    with pytest.raises(ContractBroken, match="no export"):
        ask(world, judged, "publish")


@pytest.mark.parametrize("question", ["publish", "keep"])
def test_a_run_that_is_cancelled_while_its_export_is_verified_publishes_nothing(
    world: World, judged: str, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """Step Functions stops an execution at once, and lets the function's call go on."""
    head = world.objects.head

    def cancelled_meanwhile(key: str) -> Any:
        if key.endswith(WEIGHTS):
            world.graph.abort(judged)
            world.tell_ends()
            world.deliver_all()
        return head(key)

    monkeypatch.setattr(world.objects, "head", cancelled_meanwhile)
    state = world.graph.walks[judged].state
    state["decision"] = {**state["decision"], "next": question}
    with pytest.raises(RunNotOpen):
        ask(world, judged, question)
    assert world.runs("tone")[0].status == "CANCELLED"
    assert versions(world) == []
    assert head(layout.current_policy("tone")) is None


def test_a_parent_that_is_no_longer_current_is_a_conflict(world: World, judged: str) -> None:
    other = ask(world, judged, "publish")["version"]
    world.end_run(judged)
    second = world.start_run()
    world.until(second, "publish")
    first = versions(world)[1]
    stolen = first.model_copy(update={"version": other + 1, "parent": other, "run": judged})
    assert world.ledger.policies.publish(stolen)
    with pytest.raises(PolicyConflict, match=f"relay retry {second}"):
        ask(world, second, "publish")
    world.end_run(second)
    retried = retry_run(second, world.plane)
    world.graph.step(retried)
    parent = plan_of(world, retried).parent
    assert parent is not None
    assert parent.version == other + 1
    assert plan_of(world, retried).handoffs == ()
    world.end_run(retried)
    assert [it.version for it in versions(world)] == [0, 1, 2, 3]


def test_questions_without_their_answers_before_are_refused(world: World) -> None:
    run = world.start_run()
    with pytest.raises(ContractBroken, match="nothing decided so"):
        ask(world, run, "keep")
    with pytest.raises(ContractBroken, match="no output of evaluate"):
        ask(world, run, "next")
    with pytest.raises(ContractBroken, match="no output of collect"):
        ask(world, run, "publish")
    with pytest.raises(ValueError, match="question"):
        ask(world, run, "what now")


def test_answers_are_plain_json_of_a_few_hundred_bytes(world: World) -> None:
    run = world.start_run()
    for question, at in (("plan", "collect"), ("next", "next"), ("publish", "publish")):
        world.until(run, at)
        assert len(json.dumps(ask(world, run, question))) < 700
