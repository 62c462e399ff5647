"""The runner against a whole fake cluster: TLS, tokens, schemas, and KubeRay's lifecycles."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from fakes.kube_api import kuberay_stories as stories
from fakes.kube_api.access import Rule
from fakes.kube_api.cluster import CRDS, FakeCluster
from fakes.kube_api.kuberay_rules import problems
from fakes.kube_api.kuberay_stories import Story
from fakes.kube_api.work import Idle
from fakes.objects import FakeObjects
from kuberay.conftest import ENVIRON, job_spec, settings

from contracts.errors import ClusterRefused, JobConflict
from contracts.hardware import Hardware
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kuberay.building import kuberay_runner
from lambdas.adapters.kuberay.rayjob import TTL_S
from lambdas.adapters.kuberay.runner import KubeRayRunner

pytestmark = pytest.mark.skipif(not CRDS.is_dir(), reason="the schemas are not here")
SPEC = job_spec(deadline=datetime.now(UTC) + timedelta(hours=3))
KEY = SPEC.key
NEEDED = (
    Rule(("ray.io",), ("rayjobs",), ("create", "get", "list", "delete")),
    Rule(("",), ("pods", "events"), ("list",)),
    Rule(("",), ("pods/log",), ("get",)),
    Rule(("kueue.x-k8s.io",), ("workloads",), ("list",)),
)
USER = "AKIDSUBMITTER"


class Eks:
    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        assert name == self._cluster.name
        return {"cluster": self._cluster.described}


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeCluster]:
    made = FakeCluster(
        tmp_path, name="team", region="eu-west-1", namespace=ENVIRON["CLUSTER_NAMESPACE"]
    )
    made.furnish(queue=ENVIRON["JOB_QUEUE_NAME"])
    made.grant(USER, NEEDED, namespace=made.namespace, secret="s")
    with made:
        yield made


def runner_for(fake: FakeCluster, user: str = USER, **changes: str) -> KubeRayRunner:
    session = boto3.Session(
        aws_access_key_id=user, aws_secret_access_key="s", region_name="eu-west-1"
    )
    eks: Any = Eks(fake)
    return kuberay_runner(settings(**changes), FakeObjects(), eks, session, SystemClock())


@pytest.fixture
def runner(fake: FakeCluster) -> KubeRayRunner:
    return runner_for(fake)


def begin(runner: KubeRayRunner, fake: FakeCluster, story: Story) -> None:
    fake.kuberay.story_of = lambda _job: story
    runner.start(SPEC)
    fake.step(12)


@pytest.mark.parametrize(
    ("story", "state", "says"),
    [
        (stories.stopped, "ended", "stopped in Ray"),
        (stories.image_pull_error, "waiting", "can't be pulled for the"),
        (stories.unschedulable, "waiting", "no node for the"),
        (stories.out_of_memory, "ended", "AppFailed"),
        (stories.head_lost(after_s=0, noticed_after_s=None), "running", "Ray says RUNNING"),
        (stories.submission_failed, "ended", "SubmissionFailed"),
        (stories.deleted_by_hand, "ended", "deleted by hand"),
    ],
    ids=lambda it: getattr(it, "__name__", ""),
)
def test_each_lifecycle_is_seen_for_what_it_is(
    fake: FakeCluster, runner: KubeRayRunner, story: Story, state: str, says: str
) -> None:
    begin(runner, fake, story)
    look = runner.look(KEY)
    assert look.state == state, look
    assert says in look.reason


def test_a_healthy_job_runs_and_succeeds(fake: FakeCluster, runner: KubeRayRunner) -> None:
    fake.kuberay.work_of = lambda _job: Idle(fake.clock, 60)
    begin(runner, fake, stories.healthy)
    assert runner.look(KEY).state == "running"
    fake.clock.advance(61)
    fake.step(5)
    look = runner.look(KEY)
    assert (look.state, look.reason.startswith("Ray says that it succeeded")) == ("ended", True)
    assert "works" in runner.last_words(KEY)


def test_kuberay_finds_nothing_wrong_with_any_kind_of_job(fake: FakeCluster) -> None:
    wide = Hardware.model_validate(
        {"cpus": 4, "workers": [{"profile": "gpu", "count": 2, "resources": {"x": 1}}]}
    )
    kinds: list[dict[str, str]] = [{}, {"JOB_QUEUE_NAME": ""}, {"RAY_CLUSTER": "team-cluster"}]
    for number, changes in enumerate(kinds, start=1):
        spec = SPEC.model_copy(update={"attempt": number, "hardware": wide})
        runner_for(fake, **changes).start(spec)
        job = fake.job(spec.key.job_name)
        assert job is not None
        assert problems(job) == []


def test_a_killed_job_says_who_was_killed(fake: FakeCluster, runner: KubeRayRunner) -> None:
    begin(runner, fake, stories.out_of_memory)
    words = runner.last_words(KEY)
    assert "was killed for using more memory" in words
    assert "its log ends:" in words


def test_a_job_in_the_queue_says_so(fake: FakeCluster, runner: KubeRayRunner) -> None:
    fake.kueue.waits_s = lambda _job: 3600
    begin(runner, fake, stories.healthy)
    look = runner.look(KEY)
    assert (look.state, look.reason.startswith("waiting for quota: couldn't assign")) == (
        "queued",
        True,
    )
    fake.clock.advance(3601)
    fake.step(12)
    assert runner.look(KEY).state in {"running", "ended"}


def test_a_stopped_job_is_there_until_its_pods_are_gone(
    fake: FakeCluster, runner: KubeRayRunner
) -> None:
    fake.kuberay.work_of = lambda _job: Idle(fake.clock, 600)
    begin(runner, fake, stories.healthy)
    fake.kuberay.deleting_s = 30
    runner.stop(KEY, "cancelled")
    fake.step(3)
    assert runner.look(KEY).state == "running"
    fake.clock.advance(31)
    fake.step(12)
    assert runner.look(KEY).state == "ended"
    assert fake.jobs() == []


def test_the_clusters_own_deadline_is_seen_as_one(fake: FakeCluster, runner: KubeRayRunner) -> None:
    fake.kuberay.work_of = lambda _job: Idle(fake.clock, 10**6)
    begin(runner, fake, stories.healthy)
    fake.clock.advance(4 * 3600)
    fake.step(5)
    look = runner.look(KEY)
    assert (look.state, look.error) == ("ended", "DeadlineExceeded")


def test_the_log_of_a_failed_job_is_there_after_its_cluster_is_gone(
    fake: FakeCluster, runner: KubeRayRunner
) -> None:
    fake.kuberay.work_of = lambda _job: Idle(fake.clock, 1, "FAILED", "ValueError: no such file")
    begin(runner, fake, stories.healthy)
    fake.clock.advance(2)
    fake.step(5)
    fake.clock.advance(TTL_S + 5)
    fake.step(5)
    assert runner.look(KEY).state == "ended"
    assert "ValueError: no such file" in runner.last_words(KEY)


def test_a_repeated_start_is_one_job_and_another_spec_a_conflict(
    fake: FakeCluster, runner: KubeRayRunner
) -> None:
    runner.start(SPEC)
    again = runner_for(fake)
    again.start(SPEC)
    assert len(fake.jobs()) == 1
    with pytest.raises(JobConflict):
        runner_for(fake).start(SPEC.model_copy(update={"nonce": "z" * 32}))
    assert runner.list() == again.list() == (KEY,)


def test_a_role_without_an_entry_is_told_what_it_lacks(fake: FakeCluster) -> None:
    with pytest.raises(ClusterRefused, match="access entry"):
        runner_for(fake, user="AKIDSTRANGER").start(SPEC)


def test_an_api_that_is_away_for_a_while_costs_nothing(fake: FakeCluster) -> None:
    runner = runner_for(fake)
    fake.server.down()
    runner.start(SPEC)
    assert runner.look(KEY).state == "unknown"
    fake.server.up()
    runner._cluster._api._patience._down_until = 0
    runner.ring(KEY)
    assert len(fake.jobs()) == 1
