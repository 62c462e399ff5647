"""Next step and gate: whether a candidate is better, and what follows."""

from __future__ import annotations

import pytest
from asking import ask, plan_of, versions
from fakes.agent import BETTER, NO_BETTER, Ending
from fakes.recipes import pipeline
from fakes.world import World
from hypothesis import given
from hypothesis import strategies as st

from contracts import layout
from contracts.errors import (
    ContractBroken,
)
from contracts.names import AttemptKey
from contracts.pipeline import Gate
from contracts.policy import PolicyVersion
from lambdas.logic.gate import judge


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
    body = world.objects.get(layout.current_policy("tone"), limit=1 << 30)
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
