"""The control plane deployed with runner `kuberay`, against a cluster that lives by scripts.

All runs begin at once, each with its own fate; a test waits for the end of one of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from deployed import Line, Session, app_for, until
from emulated_cluster import ask_account, let_functions_in, put_into_account
from fakes.kube_api import kuberay_stories as stories
from fakes.kube_api.cluster import CRDS, FakeCluster
from fakes.kube_api.work import Idle, Play, Work
from job_in_pod import JobsInPods

from contracts.ledger import AttemptRecord, RunRecord
from relay.local import stack
from relay.local.places import LocalPlaces

pytestmark = [
    pytest.mark.line,
    pytest.mark.emulator,
    pytest.mark.skipif(not CRDS.exists(), reason="the CRDs are not here"),
]

QUEUE = "team-queue"
CONTEXT = {
    "runner": "kuberay",
    "cluster_name": "train",
    "namespace": "hyperpod-ns-team",
    "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/relay:1.0.0",
    "fsx_claim": "fsx",
    "kueue_queue": QUEUE,
    "workspace_root": "/fsx/relay",
}
SWEEP_EVERY_S = 3.0
QUEUED_S = 10.0
STAGGER_S = 1.0
FATES: dict[str, list[stories.Story]] = {
    "deleted": [stories.deleted_by_hand],
    "headless": [stories.head_lost(after_s=2, noticed_after_s=2)],
    "unpulled": [stories.image_pull_error],
    "hungry": [stories.out_of_memory],
    "misread": [stories.not_valid],
}
RECIPES: dict[str, dict[str, Any]] = {
    "healthy": {},
    "queued": {},
    "deleted": {},
    "headless": {},
    "unpulled": {"attempts": 1, "patience": {"start_limit_s": 30}},
    "hungry": {"attempts": 1},
    "misread": {},
    "crashing": {"attempts": 1},
    "cancelled": {},
}
LAST_WORDS = ["Traceback (most recent call last):", "ValueError: the loss is not a number"]


@dataclass
class ClusterLine(Line):
    """A deployed control plane, and the cluster that it submits to."""

    cluster: FakeCluster = field(kw_only=True)
    jobs: JobsInPods = field(kw_only=True)

    def run_of(self, pipeline: str) -> str:
        return str(until(lambda: self.runs(pipeline), 60)[0].run)

    def end_of(self, pipeline: str) -> RunRecord:
        return self.ended(pipeline, within_s=150)[0]

    def optimizing(self, run: str) -> list[AttemptRecord]:
        return [it for it in self.attempts(run) if it.phase == "optimize"]

    def deployment_status(self, name: str) -> str:
        job = self.cluster.job(name) or {}
        return str(job.get("status", {}).get("jobDeploymentStatus", ""))

    def sweep(self) -> None:
        resources = self.client("cloudformation").describe_stack_resources(StackName="Relay")
        (function,) = [
            it["PhysicalResourceId"]
            for it in resources["StackResources"]
            if it["ResourceType"] == "AWS::Lambda::Function"
            and it["LogicalResourceId"].startswith("SweepFunction")
        ]
        self.client("lambda").invoke(FunctionName=function)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeCluster]:
    namespace = str(CONTEXT["namespace"])
    with FakeCluster(tmp_path_factory.mktemp("cluster"), namespace=namespace) as cluster:
        cluster.furnish(account="", queue=QUEUE)
        yield cluster


@pytest.fixture(scope="module")
def deployed(
    cluster: FakeCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClusterLine]:
    places = LocalPlaces(tmp_path_factory.mktemp("line"))
    put_into_account(cluster, places)
    try:
        up = stack.up(places, stack.Settings(app=app_for(places, **CONTEXT), ray_cpus=None))
        outputs, session = dict(up.outputs), Session(dict(up.environment))
        let_functions_in(cluster, places, "RelayCluster", outputs, session.client("eks"))
        ask_account(cluster, places)
        jobs = JobsInPods(session, outputs["Bucket"])
        yield ClusterLine(places, outputs, session, cluster=cluster, jobs=jobs)
    finally:
        stack.down(places)


@pytest.fixture(scope="module")
def cluster_line(deployed: ClusterLine) -> Iterator[ClusterLine]:
    """The line at work: every recipe's drop is there, and sweep comes often."""
    cluster, jobs = deployed.cluster, deployed.jobs
    fates = {pipeline: list(planned) for pipeline, planned in FATES.items()}
    jobs.seconds = {"cancelled": 600.0, "outage": 3 * SWEEP_EVERY_S}
    jobs.last_words = {"crashing": LAST_WORDS}
    cluster.kuberay.story_of = lambda job: _fate(fates, job)
    cluster.kuberay.work_of = lambda job: _work(deployed, job)
    cluster.kueue.waits_s = lambda job: QUEUED_S if _pipeline(job) == "queued" else 0
    cluster.run()
    for pipeline, fields in RECIPES.items():
        deployed.register(pipeline, **fields)
        deployed.put(f"incoming/{pipeline}/pairs.jsonl")
        # All at once, each run would start functions of its own, which a small machine is slow at.
        time.sleep(STAGGER_S)
    closed = threading.Event()
    sweeper = threading.Thread(target=_keep_sweeping, args=(deployed, closed), daemon=True)
    sweeper.start()
    yield deployed
    closed.set()
    sweeper.join(30)
    assert cluster.api.refusals == []
    assert deployed.messages_left("ReportsDeadLetterQueueUrl") == 0
    assert deployed.messages_left("UploadsDeadLetterQueueUrl") == 0


def _pipeline(job: dict[str, Any]) -> str:
    return str(job["metadata"]["labels"]["relay/pipeline"])


def _fate(fates: dict[str, list[stories.Story]], job: dict[str, Any]) -> stories.Story:
    planned = fates.get(_pipeline(job), [])
    optimizes = job["metadata"]["labels"]["relay/phase"] == "optimize"
    return planned.pop(0) if optimizes and planned else stories.healthy


def _work(line: ClusterLine, job: dict[str, Any]) -> Work:
    doomed = job["metadata"]["labels"]["relay/phase"] == "optimize" and _pipeline(job) in FATES
    if doomed and job["metadata"]["labels"]["relay/attempt"] == "1":
        return Idle(line.cluster.clock, 600)
    return Play(line.jobs.run)


def _keep_sweeping(line: ClusterLine, closed: threading.Event) -> None:
    while not closed.wait(SWEEP_EVERY_S):
        with suppress(ClientError, BotoCoreError):
            line.sweep()


def test_a_drop_becomes_a_policy_by_three_rayjobs(cluster_line: ClusterLine):
    ended = cluster_line.end_of("healthy")
    assert (ended.status, ended.version) == ("PUBLISHED", 1)
    names = [f"{ended.run}-1-{phase}-1" for phase in ("collect", "optimize", "evaluate")]
    assert [name for name in cluster_line.jobs.began if name.startswith(ended.run)] == names
    for name in names:
        until(lambda name=name: cluster_line.deployment_status(name) == "Complete", 20)


def test_a_job_without_quota_is_kept_alive_and_says_what_it_waits_for(cluster_line: ClusterLine):
    ended = cluster_line.end_of("queued")
    assert ended.status == "PUBLISHED"
    attempts = cluster_line.attempts(ended.run)
    assert "JobNotStarted" not in {it.error for it in attempts}
    assert any("waiting for quota: couldn't assign flavors" in it.waiting for it in attempts)


def test_a_rayjob_deleted_by_hand_is_tried_again(cluster_line: ClusterLine):
    ended = cluster_line.end_of("deleted")
    assert ended.status == "PUBLISHED"
    first, second = cluster_line.optimizing(ended.run)
    assert (first.status, second.status) == ("FAILED", "SUCCEEDED")
    assert "its RayJob is gone" in first.cause


def test_a_lost_head_is_tried_again(cluster_line: ClusterLine):
    ended = cluster_line.end_of("headless")
    assert ended.status == "PUBLISHED"
    first, second = cluster_line.optimizing(ended.run)
    assert (first.error, second.status) == ("JobCrashed", "SUCCEEDED")
    assert "JobStatusCheckTimeoutExceeded" in first.cause


@pytest.mark.parametrize(
    ("pipeline", "error", "words"),
    [
        ("crashing", "JobCrashed", LAST_WORDS[-1]),
        ("hungry", "JobCrashed", "killed for using more memory than its profile has"),
        ("misread", "JobInvalid", "this operator knows no submitterConfig"),
        ("unpulled", "JobNotStarted", "relay:1.0.0 can't be pulled"),
    ],
)
def test_a_failed_run_says_why(cluster_line: ClusterLine, pipeline: str, error: str, words: str):
    ended = cluster_line.end_of(pipeline)
    assert ended.status == "FAILED"
    assert error in ended.reason
    assert words in ended.reason


def test_a_cancelled_runs_rayjob_goes(cluster_line: ClusterLine):
    name = f"{cluster_line.run_of('cancelled')}-1-collect-1"
    until(lambda: name in cluster_line.jobs.began, 60)
    assert cluster_line.cluster.job(name) is not None
    cluster_line.client("stepfunctions").stop_execution(
        executionArn=cluster_line.execution(cluster_line.run_of("cancelled"))
    )
    began = time.monotonic()
    until(lambda: cluster_line.cluster.job(name) is None, 60)
    print(f"its RayJob is gone {time.monotonic() - began:.1f} s after the cancellation")
    assert cluster_line.end_of("cancelled").status == "CANCELLED"


def test_an_api_that_is_down_while_a_job_runs_loses_nothing(cluster_line: ClusterLine):
    for pipeline in RECIPES.keys() - {"cancelled"}:
        cluster_line.end_of(pipeline)
    cluster_line.register("outage")
    cluster_line.put("incoming/outage/pairs.jsonl")
    name = f"{cluster_line.run_of('outage')}-1-collect-1"
    until(lambda: name in cluster_line.jobs.began, 60)
    cluster_line.cluster.server.down()
    time.sleep(2 * SWEEP_EVERY_S)
    cluster_line.cluster.server.up()
    ended = cluster_line.end_of("outage")
    assert ended.status == "PUBLISHED"
    assert [it.attempt for it in cluster_line.attempts(ended.run)] == [1, 1, 1]
