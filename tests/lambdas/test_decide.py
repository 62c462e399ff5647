"""Plan, next step, gate, publish, keep: asked as the state machine asks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.agent import BETTER, NO_BETTER, Ending
from fakes.context import CONTEXT
from fakes.exports import WEIGHTS
from fakes.faults import Crash
from fakes.recipes import pipeline
from fakes.world import World, using
from hypothesis import given
from hypothesis import strategies as st

import lambdas.decide.handler
from contracts import layout
from contracts.artifact import MANIFEST
from contracts.errors import (
    ArtifactCorrupt,
    ContractBroken,
    PipelineUnknown,
    PolicyConflict,
    RunNotOpen,
)
from contracts.limits import DROPS_PER_RUN_MAX
from contracts.names import AttemptKey
from contracts.pipeline import Gate
from contracts.plan import Plan
from contracts.policy import PolicyVersion
from lambdas.logic.close_run import close_run
from lambdas.logic.deadlines import STATE_GRACE_S
from lambdas.logic.gate import judge
from lambdas.logic.retry_run import retry_run

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


def test_a_plan_fixes_exact_versions_recipe_and_parent(world: World) -> None:
    run = uploaded(world, 2)
    answer = ask(world, run, "plan")
    plan = plan_of(world, run)
    assert answer == {
        "outcome": "planned",
        "run": run,
        "pipeline": "tone",
        "round": 1,
        "drops": 2,
        "rounds": 1,
        "heartbeat_s": 240,
        "timeout_s": 86_400 + STATE_GRACE_S,
    }
    assert plan.pipeline == pipeline("tone")
    assert plan.parent is None
    assert plan.retry_of is None
    for drop in plan.drops:
        known = world.drop(drop.key, drop.version_id)
        assert known is not None
        assert (known.status, known.run) == ("planned", run)
    assert world.ledger.drops.waiting("tone", limit=9) == []


def test_a_plan_that_crashed_at_any_effect_goes_on_where_it_stopped() -> None:
    for crash_at in range(1, 8):
        world = World()
        world.register(pipeline("tone"))
        with using(world.plane):
            run = uploaded(world, 5)
            world.faults.arm(crash_at, "after")
            with pytest.raises(Crash):
                ask(world, run, "plan")
            first = world.objects.versions[layout.plan(run)][0]
            world.upload("incoming/tone/meanwhile.jsonl", b"{}")
            world.deliver_all()
            assert ask(world, run, "plan")["drops"] == 5
            assert world.objects.versions[layout.plan(run)] == [first]
            assert [d.key for d in world.ledger.drops.waiting("tone", limit=9)] == [
                "incoming/tone/meanwhile.jsonl"
            ]
            assert world.runs("tone")[0].drops == 5


def test_planning_again_changes_nothing(world: World) -> None:
    run = uploaded(world, 3)
    first = ask(world, run, "plan")
    before = dict(world.table.items)
    world.clock.advance(100)
    assert ask(world, run, "plan") == first
    assert world.table.items == before


def test_a_plan_takes_the_oldest_drops_up_to_its_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DROPS_PER_RUN_MAX == 5_000
    monkeypatch.setattr("lambdas.logic.plan_run.DROPS_PER_RUN_MAX", 4)
    run = uploaded(world, 6)
    assert ask(world, run, "plan")["drops"] == 4
    rest = world.ledger.drops.waiting("tone", limit=9)
    assert [drop.key[-8:] for drop in rest] == [" 4.jsonl", " 5.jsonl"]


def test_a_run_without_drops_keeps_the_policy(world: World) -> None:
    run = uploaded(world, 1)
    for key in [key for key in world.table.items if key[1].startswith("WAITING")]:
        del world.table.items[key]
    assert ask(world, run, "plan")["outcome"] == "nothing_waiting"
    world.end_run(run)
    (record,) = world.runs("tone")
    assert (record.status, record.reason) == ("EMPTY", "no drop was waiting")
    assert world.ledger.pipelines.get("tone").consecutive_failures == 0


def test_a_pipeline_that_is_gone_fails_the_plan_with_what_to_do(world: World) -> None:
    run = uploaded(world, 1)
    del world.objects.versions[layout.pipeline("tone")]
    with pytest.raises(PipelineUnknown, match="relay pipelines apply"):
        ask(world, run, "plan")


def test_an_ended_run_is_not_planned_again(world: World) -> None:
    run = world.start_run()
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    with pytest.raises(RunNotOpen, match="relay retry"):
        ask(world, run, "plan")


def test_a_run_that_was_cut_short_while_planning_keeps_its_drops(world: World) -> None:
    """Else the next run would plan those that were not marked yet, too."""
    run = uploaded(world, 5)
    world.faults.arm(3, "after")
    with pytest.raises(Crash):
        ask(world, run, "plan")
    world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()
    assert {drop.id for drop in plan_of(world, run).drops} == {
        item["id"]
        for (_, sk), item in world.table.items.items()
        if sk == "DROP" and item.get("run") == run
    }
    assert len(world.runs("tone")) == 1


def test_a_plan_that_comes_after_its_run_was_closed_takes_no_drop(world: World) -> None:
    """A slow planner must not take what the next run has planned, nor what still waits."""
    run = uploaded(world, 3)
    put_if_absent = world.objects.put_if_absent

    def slow(key: str, body: bytes) -> bool:
        world.objects.put_if_absent = put_if_absent  # type: ignore[method-assign]
        world.graph.abort(run)
        close_run(run, world.executions.describe(run), world.plane)
        return put_if_absent(key, body)

    world.objects.put_if_absent = slow  # type: ignore[method-assign]
    with pytest.raises(RunNotOpen):
        ask(world, run, "plan")
    second = world.runs("tone")[-1].run
    assert second != run
    assert ask(world, second, "plan")["drops"] == 3
    world.end_run(second)
    third = retry_run(run, world.plane)
    assert ask(world, third, "plan")["outcome"] == "nothing_waiting"


def test_after_the_last_round_the_gate_decides(world: World) -> None:
    world.register(pipeline("three", rounds=3))
    run = world.start_run("three")
    rounds = []
    for _ in range(3):
        world.until(run, "next")
        rounds.append(ask(world, run, "next"))
        world.graph.step(run)
    assert [(it["next"], it["round"]) for it in rounds] == [
        ("next_round", 2),
        ("next_round", 3),
        ("publish", 3),
    ]
    assert "0.500 to 0.900 over 100 held-out pairs" in rounds[-1]["reason"]


def test_a_first_run_of_several_rounds_publishes_version_zero_and_one(world: World) -> None:
    """Only round one's collect made version 0; later ones hand on what was learned."""
    world.register(pipeline("two", rounds=2))
    run = world.start_run("two")
    world.end_run(run)
    assert [(it.version, it.parent) for it in versions(world, "two")] == [(0, None), (1, 0)]


@given(low=st.floats(-1, 1), gap=st.floats(0, 1), min_gain=st.sampled_from([-0.1, 0.0, 0.05]))
def test_the_gate_passes_exactly_what_is_wholly_above_it(
    low: float, gap: float, min_gain: float
) -> None:
    metrics = {**BETTER, "gain_low": low, "gain": low + gap / 2, "gain_high": low + gap}
    judgement = judge(Gate(min_gain=min_gain), metrics)
    assert judgement.passed == (low > min_gain)
    assert f"{min_gain:+.3f}" in judgement.reason


def test_a_gain_of_exactly_the_gate_does_not_pass() -> None:
    assert not judge(Gate(min_gain=0.0), {**BETTER, "gain_low": 0.0}).passed


@pytest.mark.parametrize("name", sorted(BETTER))
def test_the_gate_needs_every_metric(name: str) -> None:
    metrics = {key: value for key, value in BETTER.items() if key != name}
    with pytest.raises(ContractBroken, match=name):
        judge(Gate(), metrics)


def test_a_better_policy_is_published_with_its_lineage(world: World) -> None:
    run = world.start_run()
    world.end_run(run)
    (record,) = world.runs("tone")
    assert (record.status, record.version) == ("PUBLISHED", 1)
    assert record.uri == f"s3://{world.objects.bucket}/{layout.policy('tone', run)}"
    zero, one = versions(world)
    assert (zero.version, zero.parent, zero.metrics) == (0, None, {})
    assert (one.version, one.parent, one.metrics, one.drops) == (1, 0, BETTER, 1)
    assert one.run == run
    body = world.objects.get(layout.current_policy("tone"), limit=_ALL)
    assert body is not None
    assert PolicyVersion.from_bytes(body, where="current.json") == one
    assert world.ledger.pipelines.get("tone").current_version == 1


def test_the_next_run_starts_from_what_was_published(world: World) -> None:
    world.end_run(world.start_run())
    second = world.start_run()
    parent = plan_of(world, second).parent
    assert parent is not None
    assert parent.version == 1
    world.end_run(second)
    assert [(it.version, it.parent) for it in versions(world)] == [(0, None), (1, 0), (2, 1)]


@pytest.mark.parametrize("ending", ["kept", "no_data"])
def test_what_is_no_better_keeps_the_policy_with_the_reason(world: World, ending: Ending) -> None:
    run = world.start_run()
    phase = "evaluate" if ending == "kept" else "collect"
    world.until(run, phase)
    world.agent.answer_bell()
    world.agent.finish(AttemptKey(run, 1, phase, 1), ending)  # type: ignore[arg-type]
    world.end_run(run)
    (record,) = world.runs("tone")
    assert record.status == {"kept": "KEPT", "no_data": "NO_DATA"}[ending]
    assert {"kept": "not wholly above", "no_data": "rejected/"}[ending] in record.reason
    # A pipeline's first judged run leaves version 0, the policy that was kept.
    assert [it.version for it in versions(world)] == ([0] if ending == "kept" else [])


def test_a_policy_that_was_kept_is_the_parent_of_the_next(world: World) -> None:
    run = world.start_run()
    world.until(run, "evaluate")
    world.agent.answer_bell()
    world.agent.finish(AttemptKey(run, 1, "evaluate", 1), "kept")
    world.end_run(run)
    assert NO_BETTER["gain_low"] < 0
    parent = plan_of(world, world.start_run()).parent
    assert parent is not None
    assert parent.version == 0


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
