"""Whatever becomes of a RayJob on a cluster, its run ends as it should and nothing is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.cluster_world import ClusterWorld, relay_rules
from fakes.kube_api import kuberay_stories as stories
from fakes.kube_api.cluster import CRDS
from fakes.kube_api.signing import KEY
from fakes.recipes import pipeline
from fakes.world import using

from contracts import layout
from contracts.ledger import AttemptRecord
from lambdas.ledger.attempts import key_of

pytestmark = pytest.mark.skipif(not CRDS.exists(), reason="the CRDs are not here")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ClusterWorld]:
    made = ClusterWorld(tmp_path)
    made.register(pipeline("tone"))
    with made.cluster, using(made.plane) as made.counted:
        yield made


def attempts(world: ClusterWorld, run: str, phase: str = "optimize") -> list[AttemptRecord]:
    return [it for it in world.attempts(run) if it.phase == phase]


def status_of(world: ClusterWorld, run: str) -> str:
    record = world.ledger.runs.get(run)
    assert record is not None
    return record.status


def ended(world: ClusterWorld, run: str) -> str:
    """Let minutes pass until the run is over and nothing of it is left; its status."""
    world.turns_until(lambda: world.ledger.runs.lease("tone") is None)
    world.turns_until(lambda: world.pods() == [])
    assert world.agent.jobs == {}
    assert len(world.agent.started) == len(set(world.agent.started)), "I1"
    assert world.cluster.api.refusals == []
    return status_of(world, run)


def test_a_healthy_run_is_three_rayjobs_and_a_policy(world: ClusterWorld):
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    names = [job["metadata"]["name"] for job in world.cluster.jobs()]
    assert names == [f"{run}-1-{phase}-1" for phase in ("collect", "evaluate", "optimize")]


def test_what_is_left_of_an_ended_job_is_cleared_away_within_hours(world: ClusterWorld):
    ended(world, world.start_run())
    world.turns_until(lambda: world.cluster.jobs() == [], within=180)


def test_an_hour_in_the_queue_costs_no_attempt(world: ClusterWorld):
    waits = {"optimize": 3600.0}
    world.cluster.kueue.waits_s = lambda job: waits.get(job["metadata"]["labels"]["relay/phase"], 0)
    run = world.start_run()
    world.turns_until(lambda: bool(attempts(world, run)))
    for _ in range(45):
        world.turn()
    (waiting,) = attempts(world, run)
    assert waiting.status == "SUBMITTED"
    assert "waiting for quota: couldn't assign flavors to pod set head" in waiting.waiting
    assert ended(world, run) == "PUBLISHED"
    assert len(attempts(world, run)) == 1


@pytest.mark.parametrize(
    ("story", "why"),
    [
        (stories.image_pull_error, "image relay:1 can't be pulled for the"),
        (stories.unschedulable, "no node for the worker of group cpu: insufficient cpu"),
    ],
)
def test_a_job_that_cannot_start_is_tried_again_and_says_why(
    world: ClusterWorld, story: stories.Story, why: str
):
    world.stories = {"optimize": [story]}
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    first, second = attempts(world, run)
    assert (first.status, first.error) == ("FAILED", "JobNotStarted")
    assert why in (first.cause or "")
    assert second.status == "SUCCEEDED"


def test_a_job_that_never_starts_fails_its_run_when_attempts_are_used_up(world: ClusterWorld):
    world.stories = {"collect": [stories.image_pull_error] * 3}
    run = world.start_run()
    assert ended(world, run) == "FAILED"
    record = world.ledger.runs.get(run)
    assert record is not None
    assert "can't be pulled" in record.reason


@pytest.mark.parametrize(
    ("plural", "name", "why"),
    [
        ("persistentvolumeclaims", "fsx", 'persistentvolumeclaim "fsx" not found'),
        ("serviceaccounts", "relay-job", 'serviceaccount "relay-job" not found'),
    ],
)
def test_what_the_namespace_lacks_is_named_while_the_job_waits_for_it(
    world: ClusterWorld, plural: str, name: str, why: str
):
    store = world.cluster.store
    kept = store.get(store.kinds.of(plural), name, world.cluster.namespace)
    store.delete(store.kinds.of(plural), name, world.cluster.namespace)
    run = world.start_run()
    for _ in range(3):
        world.turn()
    (waiting,) = world.attempts(run)
    assert waiting.status == "SUBMITTED"
    assert why in waiting.waiting
    body = {key: kept[key] for key in ("spec", "status") if key in kept}
    world.cluster.add(plural, {"metadata": {"name": name}, **body})
    assert ended(world, run) == "PUBLISHED"


def test_memory_that_runs_out_is_named_with_the_end_of_the_log(world: ClusterWorld):
    world.stories = {"optimize": [stories.out_of_memory]}
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    first, _ = attempts(world, run)
    assert first.error == "JobCrashed"
    assert "killed for using more memory than its profile has" in (first.cause or "")
    assert "OutOfMemoryError" in (first.cause or "")


def test_a_lost_head_that_nobody_notices_costs_one_attempt(world: ClusterWorld):
    world.stories = {"optimize": [stories.head_lost(after_s=90, noticed_after_s=None)]}
    run = world.start_run()
    world.until(run, "optimize")
    world.cluster.step(3)
    (key,) = world.agent.jobs
    world.agent.report_progress(key)
    world.turns_until(lambda: not world.agent.jobs, finishes=False)
    job = world.cluster.job(key.job_name)
    assert job is not None
    assert job["status"]["jobStatus"] == "RUNNING"
    assert ended(world, run) == "PUBLISHED"
    first, second = attempts(world, run)
    assert "a newer attempt t" in first.cause
    assert second.status == "SUCCEEDED"


def test_a_lost_head_that_kuberay_notices_costs_one_attempt(world: ClusterWorld):
    world.stories = {"optimize": [stories.head_lost()]}
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    assert len(attempts(world, run)) == 2


def test_a_job_that_does_not_end_itself_is_ended_by_the_cluster(world: ClusterWorld):
    world.register(pipeline("tone", timeout_s=600, start_limit_s=300))
    run = world.start_run()
    world.turns_until(lambda: bool(world.agent.jobs), finishes=False)
    (key,) = world.agent.jobs
    world.agent.meet_deadlines = lambda: None  # type: ignore[method-assign]
    reports = iter(range(100))

    def over() -> bool:
        if key in world.agent.jobs and next(reports) < 60:
            world.agent.report_progress(key)
        return key not in world.agent.jobs

    world.turns_until(over, finishes=False)
    assert ended(world, run) == "PUBLISHED"
    assert len(attempts(world, run, "collect")) == 2


def test_a_job_that_queued_ends_itself_when_it_has_worked_as_long_as_it_may(world: ClusterWorld):
    """Its deadline is hours away, and `sweep` leaves the end to it, whose words are the reason."""
    limits = {"timeout_s": 1800, "start_limit_s": 600, "queue_limit_s": 14_400}
    world.register(pipeline("tone", **limits))
    world.cluster.kueue.waits_s = lambda job: 3600
    run = world.start_run()
    world.turns_until(lambda: bool(world.agent.jobs), finishes=False)
    ((key, job),) = world.agent.jobs.items()

    def over() -> bool:
        if key in world.agent.jobs:
            world.agent.report_progress(key)
        return world.attempts(run)[0].status == "FAILED"

    world.turns_until(over, finishes=False)
    first = world.attempts(run)[0]
    assert (first.error, first.cause) == ("DeadlineExceeded", "it DeadlineExceeded")
    assert first.ended_at is not None
    assert 1800 <= (first.ended_at - job.started_at).total_seconds() <= 1800 + 120
    assert first.deadline > first.ended_at


def test_a_form_that_kuberay_refuses_fails_the_run_at_once(world: ClusterWorld):
    world.stories = {"optimize": [stories.not_valid]}
    run = world.start_run()
    assert ended(world, run) == "FAILED"
    (only,) = attempts(world, run)
    assert only.error == "JobInvalid"
    assert "knows no submitterConfig" in (only.cause or "")


def test_a_rayjob_deleted_by_hand_is_a_failed_attempt(world: ClusterWorld):
    world.stories = {"optimize": [stories.deleted_by_hand]}
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    first, second = attempts(world, run)
    assert "its RayJob is gone" in (first.cause or "")
    assert second.status == "SUCCEEDED"


def test_a_job_stopped_in_ray_is_no_success(world: ClusterWorld):
    world.stories = {"optimize": [stories.stopped]}
    run = world.start_run()
    ended(world, run)
    first = attempts(world, run)[0]
    assert first.status == "FAILED"
    assert "it was stopped in Ray" in (first.cause or "")


def test_a_preempted_job_gives_its_place_back_and_the_run_goes_on(world: ClusterWorld):
    run = world.start_run()
    world.until(run, "optimize")
    world.cluster.step(3)
    job = world.cluster.job(f"{run}-1-optimize-1")
    assert job is not None
    name = job["metadata"]["name"]
    assert world.pods(name) != []
    world.cluster.kueue.waits_s = lambda _job: float("inf")
    world.cluster.kueue.preempt(job)
    world.cluster.step(3)
    assert world.pods(name) == []
    world.cluster.kueue.waits_s = lambda _job: 0
    world.agent.started.clear()
    assert ended(world, run) == "PUBLISHED"


def test_a_cancelled_runs_job_is_told_within_a_minute_and_gone_within_its_grace(
    world: ClusterWorld,
):
    world.cluster.kubelet.ending_s = 40
    run = world.start_run()
    world.turns_until(lambda: bool(world.agent.jobs), finishes=False)
    world.graph.abort(run)
    world.turn(finishes=False)
    assert all("deletionTimestamp" in job["metadata"] for job in world.cluster.jobs())
    world.clock.advance(40)
    world.cluster.step(3)
    assert world.pods() == []
    assert world.cluster.jobs() == []
    assert status_of(world, run) == "CANCELLED"


def test_the_next_attempt_waits_until_the_last_pod_of_the_one_before_is_gone(world: ClusterWorld):
    world.cluster.kubelet.ending_s = 40
    run = world.start_run()
    world.turns_until(lambda: bool(world.agent.jobs), finishes=False)
    (key,) = world.agent.jobs
    world.agent.jobs.clear()
    seen = set()

    def second_began() -> bool:
        seen.add(tuple(sorted(it["metadata"]["name"] for it in world.cluster.jobs())))
        return any(it.attempt == 2 and it.status != "RESERVED" for it in world.attempts(run))

    world.turns_until(second_began, finishes=False)
    assert ended(world, run) == "PUBLISHED"
    assert key.attempt == 1


@pytest.mark.parametrize("minutes", [1, 10])
@pytest.mark.parametrize("moment", ["before the run", "while it runs", "while it ends"])
def test_an_api_that_is_down_for_a_while_loses_nothing(
    world: ClusterWorld, moment: str, minutes: int
):
    if moment == "before the run":
        world.cluster.server.down()
    run = world.start_run()
    if moment != "before the run":
        world.turns_until(lambda: bool(world.agent.jobs), finishes=False)
        world.cluster.server.down()
    for _ in range(minutes):
        world.turn(finishes=moment == "while it ends")
    world.cluster.server.up()
    assert ended(world, run) == "PUBLISHED"
    assert all(it.attempt == 1 for it in world.attempts(run) if moment == "while it ends")


@pytest.mark.parametrize("code", [429, 500, 503])
def test_an_api_that_is_busy_now_and_then_is_asked_again(world: ClusterWorld, code: int):
    world.cluster.server.outages.fail(code, times=4, retry_after_s=1)
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    assert [it.attempt for it in world.attempts(run)] == [1, 1, 1]


def test_an_api_that_answers_slowly_is_waited_for(world: ClusterWorld):
    world.cluster.server.outages.slow(0.3, times=6)
    run = world.start_run()
    assert ended(world, run) == "PUBLISHED"
    assert [it.attempt for it in world.attempts(run)] == [1, 1, 1]


def test_a_role_that_the_cluster_does_not_know_fails_the_run_with_a_remedy(world: ClusterWorld):
    world.cluster.access.revoke(KEY)
    run = world.start_run()
    world.turns_until(lambda: status_of(world, run) == "FAILED", within=3)
    record = world.ledger.runs.get(run)
    assert record is not None
    assert "access entry" in record.reason
    world.cluster.grant(KEY, relay_rules(), namespace=world.cluster.namespace)
    world.turns_until(lambda: world.ledger.runs.lease("tone") is None, within=3)


def test_every_right_in_the_namespace_is_used(world: ClusterWorld):
    granted = {
        (verb, group, resource)
        for rule in relay_rules()
        for verb in rule.verbs
        for group in rule.groups
        for resource in rule.resources
    }
    world.cluster.kueue.waits_s = lambda _job: 120
    world.stories = {"collect": [stories.head_lost()], "optimize": [stories.unschedulable]}
    run = world.start_run()
    world.turns_until(lambda: bool(attempts(world, run)))
    for _ in range(3):
        world.turn()
    world.graph.abort(run)
    ended(world, run)
    assert world.cluster.access.used == granted


def test_a_strangers_rayjob_of_the_same_name_is_a_conflict(world: ClusterWorld):
    run = world.start_run()
    head = {
        "rayStartParams": {},
        "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}},
    }
    world.cluster.add(
        "rayjobs",
        {
            "metadata": {"name": f"{run}-1-collect-1"},
            "spec": {"entrypoint": "x", "rayClusterSpec": {"headGroupSpec": head}},
        },
    )
    world.turns_until(lambda: world.ledger.runs.lease("tone") is None)
    record = world.ledger.runs.get(run)
    assert record is not None
    assert record.status == "FAILED"
    assert "another job" in record.reason
    (refused,) = attempts(world, run, "collect")
    assert world.objects.head(layout.claim(key_of(refused))) is None
