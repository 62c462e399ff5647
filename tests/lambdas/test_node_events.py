"""A cluster's machines: what happens to them stretches the patience of runs and fails none."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from fakes import events
from fakes.recipes import pipeline
from fakes.world import World

from contracts.ledger import AttemptRecord, RunRecord
from contracts.names import AttemptKey
from lambdas.logic.node_event import REPAIR_S, node_event
from lambdas.logic.silence import SILENT_AFTER_S, is_silent

PATIENCE = pipeline("tone").patience
STATE = "SageMaker HyperPod Cluster State Change"
OTHER = "SageMaker HyperPod Cluster Event"


@pytest.fixture
def job(world: World) -> AttemptKey:
    """A job of `collect` that was submitted and not yet claimed."""
    run = world.start_run()
    world.graph.step(run)
    return AttemptKey(run, 1, "collect", 1)


def the_run(world: World) -> RunRecord:
    (run,) = world.runs("tone")
    return run


def attempt(world: World, key: AttemptKey) -> AttemptRecord:
    (found,) = [it for it in world.attempts(key.run) if it.attempt == key.attempt]
    return found


def now(world: World) -> str:
    return world.clock.now().isoformat()


def other(level: str, **told: Any) -> dict[str, Any]:
    details = {
        "EventId": "e",
        "ClusterName": "train-hyperpod",
        "InstanceGroupName": "gpu",
        "EventLevel": level,
        "Description": "Instance provisioning failed: no capacity",
    }
    return {"EventDetails": details | told}


def test_a_sick_machine_is_noted_on_the_run_that_lives(world: World, job: AttemptKey) -> None:
    at = world.clock.now()
    sick = events.node_health("UnschedulablePendingReplacement", time=at.isoformat())
    assert world.deliver("reports", sick) == []
    world.sweep()
    run = the_run(world)
    assert run.note == (
        "machine i-0123456789abcdef0 is UnschedulablePendingReplacement: XidError 79; Replace"
    )
    assert run.patient_until == at + timedelta(seconds=REPAIR_S)
    assert run.status == "OPEN"
    assert world.counted["NodeEvents"] == 1


def test_the_same_event_again_or_an_older_one_changes_nothing(
    world: World, job: AttemptKey
) -> None:
    at = world.clock.now()
    world.deliver("reports", events.node_health("Unschedulable", time=at.isoformat()))
    world.sweep()
    before = dict(world.table.items)
    world.deliver("reports", events.node_health("Unschedulable", time=at.isoformat()))
    older = (at - timedelta(seconds=60)).isoformat()
    world.deliver("reports", events.node_health("UnschedulablePendingReboot", time=older))
    world.sweep()
    assert world.table.items == before


@pytest.mark.parametrize(
    "body",
    [
        events.node_health("Schedulable"),
        events.node_health("Healthy"),
        events.cluster_event(STATE, {"ClusterName": "c", "ClusterStatus": "InService"}),
        events.cluster_event(OTHER, other("Warn")),
        events.cluster_event(OTHER, other("Info")),
    ],
)
def test_what_costs_no_time_is_noted_nowhere(world: World, job: AttemptKey, body: str) -> None:
    before = dict(world.table.items)
    assert world.deliver("reports", body) == []
    assert world.table.items == before


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            events.cluster_event(STATE, {"ClusterName": "c", "ClusterStatus": "SystemUpdating"}),
            "cluster c is SystemUpdating",
        ),
        (
            events.cluster_event(OTHER, other("Error")),
            "gpu: Instance provisioning failed: no capacity",
        ),
        (
            events.cluster_event(OTHER, other("Error", InstanceId="i-1")),
            "i-1: Instance provisioning failed: no capacity",
        ),
    ],
)
def test_updates_and_errors_of_the_cluster_are_told_in_words(body: str, words: str) -> None:
    event = node_event(json.loads(body))
    assert event is not None
    assert (event.words, event.matters) == (words, True)


def test_a_run_that_has_ended_stays_as_it_is(world: World) -> None:
    world.end_run(world.start_run())
    before = the_run(world)
    world.deliver("reports", events.node_health("Unschedulable", time=now(world)))
    world.sweep()
    assert the_run(world) == before


def test_a_run_that_begins_while_a_machine_is_repaired_may_wait_for_it(world: World) -> None:
    world.deliver("reports", events.node_health("Unschedulable", time=now(world)))
    world.clock.advance(600)
    world.start_run()
    world.sweep()
    assert the_run(world).patient_until is not None


def test_an_event_is_one_note_however_many_pipelines_there_are(world: World) -> None:
    """Hundreds of runs would take longer than a call has, and cost its batch-mates theirs."""
    for number in range(30):
        world.register(pipeline(f"line-{number}"))
        world.upload(f"incoming/line-{number}/a.jsonl")
    world.deliver_all()
    before = dict(world.table.items)
    world.deliver("reports", events.node_health("Unschedulable", time=now(world)))
    assert len([key for key in world.table.items if key not in before]) == 1
    assert {key: world.table.items[key] for key in before} == before
    world.sweep()
    runs = [run for number in range(30) for run in world.runs(f"line-{number}")]
    assert len(runs) == 30
    assert all(run.patient_until for run in runs)


@pytest.mark.parametrize(
    "body",
    [
        events.node_health("Unschedulable", HealthSummary=None),
        events.node_health("Unschedulable", time="soon"),
        events.node_health("Unschedulable", time="2026-03-04T05:06:07"),
        events.cluster_event(STATE, {"ClusterName": "c"}),
        events.cluster_event(OTHER, {"EventDetails": []}),
    ],
)
def test_an_event_of_another_form_fails_alone(world: World, job: AttemptKey, body: str) -> None:
    fine = events.node_health("Unschedulable", time=now(world))
    assert world.deliver("reports", body, fine) == ["m0"]
    world.sweep()
    assert the_run(world).note


def test_a_slow_start_is_borne_while_a_machine_is_repaired_and_no_longer(
    world: World, job: AttemptKey
) -> None:
    world.clock.advance(PATIENCE.start_limit_s - 60)
    world.deliver("reports", events.node_health("Unschedulable", time=now(world)))
    world.clock.advance(120)
    world.sweep()
    assert attempt(world, job).status == "SUBMITTED"
    assert world.executions.tasks[attempt(world, job).token].outcome is None
    world.clock.advance(REPAIR_S)
    world.sweep()
    assert attempt(world, job).error == "JobNotStarted"


def test_a_silent_job_is_kept_alive_while_a_machine_is_repaired_and_no_longer(
    world: World, job: AttemptKey
) -> None:
    world.agent.answer_bell()
    world.agent.report_progress(job)
    world.deliver_all()
    world.deliver("reports", events.node_health("Unschedulable", time=now(world)))
    beats = world.executions.tasks[attempt(world, job).token].heartbeats
    world.clock.advance(60)
    world.sweep()
    kept = world.executions.tasks[attempt(world, job).token].heartbeats
    assert kept > beats
    world.clock.advance(REPAIR_S)
    world.sweep()
    assert world.executions.tasks[attempt(world, job).token].heartbeats == kept


def test_a_job_that_is_gone_fails_its_phase_in_spite_of_a_repair(
    world: World, job: AttemptKey
) -> None:
    world.agent.answer_bell()
    world.deliver("reports", events.node_health("Unschedulable", time=now(world)))
    world.agent.kill_job(job, silent=True)
    world.sweep()
    assert attempt(world, job).error == "JobCrashed"


def test_a_phase_without_progress_is_counted_once_it_lasts(world: World, job: AttemptKey) -> None:
    world.sweep()
    assert world.counted["SilentPhases"] == 0
    world.clock.advance(SILENT_AFTER_S + 1)
    world.sweep()
    assert world.counted["SilentPhases"] == 1
    world.agent.answer_bell()
    world.agent.report_progress(job)
    world.deliver_all()
    world.sweep()
    assert world.counted["SilentPhases"] == 1


def test_waiting_for_quota_is_no_silence(world: World, job: AttemptKey) -> None:
    world.clock.advance(SILENT_AFTER_S + 1)
    queued = attempt(world, job).model_copy(update={"queued_at": world.clock.now()})
    assert not is_silent(queued, world.clock.now())
    assert is_silent(attempt(world, job), world.clock.now())
