"""The control plane over RayJobs, in memory: what `submit` and `sweep` make of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from fakes.recipes import pipeline
from fakes.world import World, using
from kuberay.conftest import MemoryCluster, settings

from contracts import layout
from contracts.ledger import AttemptRecord
from contracts.limits import CAUSE_MAX
from contracts.names import AttemptKey
from contracts.progress import Progress
from lambdas.adapters.kuberay.runner import KubeRayRunner
from lambdas.logic.reconcile_job import ENDING_GRACE_S, LEFTOVER_S

PATIENCE = pipeline("tone").patience


@pytest.fixture
def world(cluster: MemoryCluster) -> Iterator[World]:
    """The world of the other tests, with RayJobs instead of doorbells."""
    made = World()
    runner = KubeRayRunner(made.plane.objects, cluster, settings(), made.clock)  # type: ignore[arg-type]
    made.plane = dataclasses.replace(made.plane, runner=runner)
    made.register(pipeline("tone"))
    with using(made.plane) as made.counted:
        yield made


@pytest.fixture
def job(world: World, cluster: MemoryCluster) -> AttemptKey:
    """A job of `collect` whose RayJob was made."""
    run = world.start_run()
    world.graph.step(run)
    key = AttemptKey(run, 1, "collect", 1)
    assert cluster.made == [key.job_name]
    return key


def attempt(world: World, key: AttemptKey) -> AttemptRecord:
    (found,) = [it for it in world.attempts(key.run) if it.attempt == key.attempt]
    return found


def heartbeats(world: World, key: AttemptKey) -> int:
    return world.executions.tasks[attempt(world, key).token].heartbeats


def retry(world: World, key: AttemptKey) -> AttemptKey:
    """Let Step Functions try the phase again until its next job is made."""
    for _ in range(8):
        world.clock.advance(20)
        world.graph.step(key.run)
    return key._replace(attempt=key.attempt + 1)


def test_a_queued_job_is_kept_alive_for_its_own_time_with_the_reason(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    """An hour in the queue is longer than the start limit, and takes nothing from it."""
    cluster.show(job.job_name, jobDeploymentStatus="Suspended")
    pending = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "full"}
    cluster.workloads_of[f"uid-{job.job_name}"] = [{"status": {"conditions": [pending]}}]
    for _ in range(60):
        world.clock.advance(60)
        world.sweep()
    assert heartbeats(world, job) == 60
    assert attempt(world, job).waiting == "queued: waiting for quota: full"
    assert PATIENCE.start_limit_s < 3600
    cluster.show(job.job_name, jobDeploymentStatus="Initializing")
    world.clock.advance(PATIENCE.start_limit_s - 60)
    world.sweep()
    assert attempt(world, job).status == "SUBMITTED"
    assert attempt(world, job).waiting.startswith("waiting: ")
    world.clock.advance(120)
    world.sweep()
    assert attempt(world, job).error == "JobNotStarted"
    assert "patience.start_limit_s" in attempt(world, job).cause
    assert cluster.rayjobs == {}


def test_a_job_that_queues_too_long_is_given_up(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    cluster.show(job.job_name, jobDeploymentStatus="Suspended")
    world.clock.advance(PATIENCE.queue_limit_s + 1)
    world.sweep()
    assert attempt(world, job).error == "JobNotStarted"
    assert "patience.queue_limit_s" in attempt(world, job).cause


def test_time_in_the_queue_is_none_of_the_attempts_own(
    world: World, cluster: MemoryCluster
) -> None:
    """Shorter than the queue's limit, the timeout used to end healthy jobs in the queue."""
    world.register(pipeline("tone", timeout_s=3600, start_limit_s=600, queue_limit_s=14_400))
    run = world.start_run()
    world.graph.step(run)
    key = AttemptKey(run, 1, "collect", 1)
    cluster.show(key.job_name, jobDeploymentStatus="Suspended")
    for _ in range(180):
        world.clock.advance(60)
        world.sweep()
        world.graph.step(run)
    assert [it.status for it in world.attempts(run)] == ["SUBMITTED"]
    cluster.show(key.job_name, jobStatus="RUNNING", jobDeploymentStatus="Running")
    began_at = world.clock.now()
    for sequence in range(1, 90):
        world.clock.advance(60)
        record = attempt(world, key)
        said = Progress(
            **key._asdict(), nonce=record.nonce, sequence=sequence, at=world.clock.now(), stage="at"
        )
        world.objects.put(layout.progress(key), said.to_bytes())
        world.deliver_all()
        world.sweep()
        if attempt(world, key).status != "RUNNING":
            break
    worked_s = (world.clock.now() - began_at).total_seconds()
    assert 4200 < worked_s < 4200 + 300, "a job that does not end itself after 3600 s"
    assert attempt(world, key).error == "DeadlineExceeded"
    assert cluster.rayjobs == {}


def test_a_reason_is_written_down_once(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    world.sweep()
    before = dict(world.table.items)
    world.sweep()
    assert attempt(world, job).waiting == "waiting: no pod has been made yet"
    key = next(key for key in before if key[1].startswith("ATTEMPT"))
    assert world.table.items[key] is before[key] or world.table.items[key] == before[key]


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (
            {"jobStatus": "FAILED", "jobDeploymentStatus": "Failed", "reason": "AppFailed"},
            "JobCrashed",
            "it failed (AppFailed: mmm",
        ),
        ({"jobDeploymentStatus": "ValidationFailed"}, "JobInvalid", "KubeRay refuses its form"),
        (
            {"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded"},
            "DeadlineExceeded",
            "DeadlineExceeded",
        ),
        (
            {"jobStatus": "STOPPED", "jobDeploymentStatus": "Complete"},
            "JobCrashed",
            "it was stopped in Ray, not by the pipeline",
        ),
    ],
)
def test_a_job_that_ended_without_a_word_gets_its_log_for_one(
    world: World,
    cluster: MemoryCluster,
    job: AttemptKey,
    status: dict[str, Any],
    error: str,
    says: str,
) -> None:
    cluster.show(job.job_name, failed=1, message="m" * 5000, **status)
    submitter = {
        "metadata": {"name": "s", "labels": {"relay/role": "submitter"}},
        "status": {"phase": "Failed"},
    }
    cluster.pods_of[job.job_name] = [submitter]
    cluster.logs["s"] = "y" * 5000 + "\nRuntimeError: no such file\n"
    world.sweep()
    record = attempt(world, job)
    assert (record.status, record.error) == ("FAILED", error)
    assert says in record.cause
    assert record.cause.endswith("its log ends: RuntimeError: no such file")
    assert len(record.cause) <= CAUSE_MAX


def test_a_vanished_job_is_tried_again(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    cluster.rayjobs.clear()
    world.sweep()
    assert attempt(world, job).error == "JobCrashed"
    again = retry(world, job)
    assert cluster.made == [job.job_name, again.job_name]


def test_the_next_job_waits_until_the_last_pod_of_the_one_before_is_gone(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    """I1: at most one live job of a phase."""
    cluster.lingers = True
    cluster.show(job.job_name, jobDeploymentStatus="Running", jobStatus="RUNNING")
    world.executions.fail(attempt(world, job).token, "States.HeartbeatTimeout", "silent")
    again = retry(world, job)
    assert cluster.deleted
    assert cluster.made == [job.job_name]
    del cluster.rayjobs[job.job_name]
    cluster.pods_of[job.job_name] = [{"metadata": {"name": "w"}, "status": {"phase": "Running"}}]
    retry(world, job)
    assert cluster.made == [job.job_name]
    cluster.pods_of.clear()
    retry(world, job)
    assert cluster.made == [job.job_name, again.job_name]


def test_an_outage_of_the_cluster_costs_no_attempt(world: World, cluster: MemoryCluster) -> None:
    cluster.is_down = True
    run = world.start_run()
    world.graph.step(run)
    key = AttemptKey(run, 1, "collect", 1)
    for _ in range(10):
        world.clock.advance(60)
        world.sweep()
    assert heartbeats(world, key) == 10
    assert "does not answer" in attempt(world, key).waiting
    cluster.is_down = False
    world.sweep()
    assert cluster.made == [key.job_name]
    assert [it.attempt for it in world.attempts(run)] == [1]


def test_a_run_cancelled_while_the_cluster_is_away_leaves_no_job(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    cluster.is_down = True
    world.executions.end(job.run, "ABORTED")
    world.sweep()
    assert attempt(world, job).status == "STOPPED"
    assert cluster.rayjobs
    cluster.is_down = False
    world.sweep()
    assert cluster.rayjobs == {}


def test_a_job_that_the_ledger_forgot_is_found_by_its_labels(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    world.executions.end(job.run, "ABORTED")
    cluster.is_down = True
    world.sweep()
    world.ledger.attempts.forget_job(job)
    cluster.is_down = False
    world.sweep()
    assert cluster.rayjobs == {}


def test_a_job_of_a_run_that_nobody_knows_is_stopped(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    for key in [key for key in world.table.items if key[0] in {f"RUN#{job.run}", "JOBS"}]:
        del world.table.items[key]
    world.sweep()
    assert cluster.rayjobs == {}


def test_a_live_job_that_the_ledger_forgot_to_list_goes_on(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    world.ledger.attempts.forget_job(job)
    world.sweep()
    assert list(cluster.rayjobs) == [job.job_name]
    assert cluster.deleted == []


def test_what_is_left_of_an_ended_job_is_cleared_away_after_an_hour(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    cluster.show(job.job_name, jobDeploymentStatus="Failed", failed=1)
    world.sweep()
    world.clock.advance(ENDING_GRACE_S + 1)
    for _ in range(3):
        world.sweep()
    assert job.job_name in cluster.rayjobs
    world.clock.advance(LEFTOVER_S)
    world.sweep()
    assert cluster.rayjobs == {}


def test_a_job_whose_cluster_cannot_list_keeps_no_pipeline_back(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    cluster.is_down = True
    assert world.sweep()["failed"] == 1
    assert heartbeats(world, job) == 1


def test_a_refused_pipeline_fails_the_run_with_what_to_mend(
    world: World, cluster: MemoryCluster
) -> None:
    recipe = pipeline("tone").model_dump(mode="json") | {"hardware": {"cpus": 500}}
    world.register(type(pipeline("tone")).model_validate(recipe))
    run = world.start_run()
    for _ in range(3):
        world.graph.step(run)
    state = world.executions.describe(run)
    assert state is not None
    assert (state.status, state.error) == ("FAILED", "PipelineInvalid")
    assert "500 CPUs" in state.cause
    assert cluster.made == []
    assert world.objects.head(layout.plan(run)) is not None


def test_a_job_whose_room_was_taken_away_queues_again_and_loses_no_attempt(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    """Kueue preempts a running job: its cluster goes, and comes back when there is room."""
    record = attempt(world, job)
    told = Progress(
        **job._asdict(), nonce=record.nonce, sequence=7, at=world.clock.now(), stage="Learning"
    )
    world.objects.put(layout.progress(job), told.to_bytes())
    world.deliver_all()
    assert attempt(world, job).status == "RUNNING"
    cluster.show(job.job_name, jobDeploymentStatus="Suspended")
    for _ in range(60):
        world.clock.advance(60)
        world.sweep()
    assert attempt(world, job).waiting.startswith("queued: waiting for quota")
    cluster.show(job.job_name, jobDeploymentStatus="Initializing")
    world.clock.advance(PATIENCE.start_limit_s - 120)
    world.sweep()
    assert heartbeats(world, job) == 62
    cluster.show(job.job_name, jobStatus="RUNNING", jobDeploymentStatus="Running")
    world.clock.advance(PATIENCE.start_limit_s)
    world.sweep()
    assert attempt(world, job).status == "RUNNING"
    assert heartbeats(world, job) == 62


def test_the_next_job_waits_while_nobody_knows_whether_the_one_before_is_gone(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    world.executions.fail(attempt(world, job).token, "States.HeartbeatTimeout", "silent")
    cluster.is_down = True
    again = retry(world, job)
    assert [it.status for it in world.attempts(job.run)] == ["SUBMITTED", "RESERVED"]
    cluster.is_down = False
    retry(world, job)
    assert cluster.made == [job.job_name, again.job_name]
    assert list(cluster.rayjobs) == [again.job_name]
    assert [it.status for it in world.attempts(job.run)] == ["STOPPED", "SUBMITTED"]


def test_a_run_that_a_cluster_refuses_ends_and_frees_its_pipeline(
    world: World, cluster: MemoryCluster
) -> None:
    """Its job cannot be stopped either, which is for sweep to do once it is let in."""
    run = world.start_run()
    cluster.refuses = True
    world.end_run(run)
    (record,) = world.runs("tone")
    assert record.status == "FAILED"
    assert "access entry" in record.reason
    assert world.sweep()["failed"] > 0
    cluster.refuses = False
    world.sweep()
    assert world.sweep() == {"pipelines": 1, "jobs": 0, "failed": 0}


def test_a_job_left_by_a_cluster_that_refused_is_stopped_when_it_lets_in_again(
    world: World, cluster: MemoryCluster, job: AttemptKey
) -> None:
    cluster.refuses = True
    world.graph.abort(job.run)
    world.end_run(job.run)
    assert world.runs("tone")[0].status == "CANCELLED"
    assert list(cluster.rayjobs) == [job.job_name]
    assert "its job could not be stopped then" in attempt(world, job).cause
    cluster.refuses = False
    world.sweep()
    assert cluster.rayjobs == {}
