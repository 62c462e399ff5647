"""The control plane in memory with the real runner `kuberay`, over HTTPS to the fake cluster."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3

from cdk.namespace_access import namespace_access
from cdk.settings import Settings as StackSettings
from contracts import layout
from contracts.job import JobSpec
from contracts.names import AttemptKey
from contracts.result import PhaseResult
from fakes.agent import Job, ModelAgent
from fakes.clock import FakeClock
from fakes.kube_api.access import Rule, rules_of
from fakes.kube_api.cluster import FakeCluster
from fakes.kube_api.kuberay_stories import Story, healthy
from fakes.kube_api.signing import KEY, SECRET
from fakes.kube_api.work import Idle, Work
from fakes.objects import FakeObjects
from fakes.world import World
from lambdas.adapters.kuberay.api import KubeApi
from lambdas.adapters.kuberay.cluster import Cluster
from lambdas.adapters.kuberay.endpoint import ClusterEndpoint
from lambdas.adapters.kuberay.runner import KubeRayRunner
from lambdas.adapters.kuberay.token import ClusterToken
from lambdas.adapters.kuberay.trying import Patience
from lambdas.settings import Settings

REGION = "us-east-1"
QUEUE = "relay-queue"
TURN_S = 60


class ClusterWorld(World):
    """A world whose jobs are RayJobs; `agent` only plays what runs in them.

    Attributes:
        stories: by phase, what becomes of its attempts, one after the other; then all is well.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.stories: dict[str, list[Story]] = {}
        self.agent = Drivers(self.objects, self.queue, self.clock)
        self.cluster = FakeCluster(folder, region=REGION, clock=self.clock)
        self.cluster.furnish(queue=QUEUE)
        self.cluster.grant(KEY, relay_rules(), namespace=self.cluster.namespace, secret=SECRET)
        self.cluster.kuberay.work_of = self._work_of
        self.cluster.kuberay.story_of = self._story_of
        self.plane = replace(self.plane, runner=self._runner())

    def move_on(self, *, finishes: bool = True) -> None:
        """Everyone does their work once; the cluster's controllers, too."""
        self.cluster.step(2)
        super().move_on(finishes=finishes)
        self.cluster.step(2)

    def turn(self, *, finishes: bool = True) -> None:
        """A minute passes, and sweep has its turn."""
        self.move_on(finishes=finishes)
        self.clock.advance(TURN_S)
        self.agent.meet_deadlines()
        self.sweep()

    def turns_until(
        self, question: Callable[[], bool], *, finishes: bool = True, within: int = 120
    ) -> int:
        """Let minutes pass until it is so; how many."""
        for turns in range(within):
            if question():
                return turns
            self.turn(finishes=finishes)
        raise AssertionError(f"not within {within} minutes: {self.cluster.jobs()}")

    def pods(self, job: str = "") -> list[str]:
        """Running pods, of a job or of all."""
        found, _ = self.cluster.store.list(self.cluster.store.kinds.of("pods"))
        names = [pod["metadata"]["name"] for pod in found if pod["status"]["phase"] == "Running"]
        return [name for name in names if name.startswith(job)]

    def _story_of(self, job: dict[str, Any]) -> Story:
        planned = self.stories.get(phase_of(job), [])
        return planned.pop(0) if planned else healthy

    def _work_of(self, job: dict[str, Any]) -> Work:
        return Driver(job, self.agent) if phase_of(job) else Idle(self.clock, 60)

    def _runner(self) -> KubeRayRunner:
        session = boto3.Session(
            aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name=REGION
        )
        endpoint = ClusterEndpoint(_Eks(self.cluster), self.cluster.name)  # type: ignore[arg-type]
        token = ClusterToken(session, REGION, self.cluster.name, self.clock.now)
        patience = Patience(now=lambda: self.clock.now().timestamp(), sleep=self.clock.advance)
        api = KubeApi(endpoint, token, patience)
        cluster = Cluster(api, self.cluster.namespace)
        return KubeRayRunner(self.plane.objects, cluster, runner_settings(self), self.clock)


def phase_of(job: dict[str, Any]) -> str:
    """The phase that a RayJob is of; none for a stranger's."""
    return str(job["metadata"].get("labels", {}).get("relay/phase", ""))


class Drivers(ModelAgent):
    """What runs in RayJobs. Nobody marks an exit here: the RayJob tells how it is."""

    def __init__(self, objects: FakeObjects, queue: Any, clock: FakeClock) -> None:
        super().__init__(objects, queue, clock, alive=False)

    def restart(self) -> None:
        """No agent is to be restarted."""

    def outcome(self, key: AttemptKey) -> str | None:
        if key in self.jobs:
            return None
        body = self.objects.get(layout.result(key), limit=1 << 20)
        if body is None:
            return "FAILED"
        result = PhaseResult.from_bytes(body, where=layout.result(key))
        return "FAILED" if result.outcome == "failed" else "SUCCEEDED"


class Driver:
    """The driver of one RayJob: it learns which job it is of by its command line."""

    def __init__(self, job: dict[str, Any], drivers: Drivers) -> None:
        self._drivers = drivers
        self._spec = spec_of(job, drivers.objects)

    def start(self, job: dict[str, Any], log: Callable[[str], None]) -> None:
        log(f"training for {job['metadata']['name']}")
        self._drivers.jobs[self._spec.key] = Job(self._spec, self._drivers.clock.now())
        self._drivers.started.append(self._spec.key)

    def outcome(self) -> str | None:
        return self._drivers.outcome(self._spec.key)

    def stop(self) -> None:
        self._drivers.jobs.pop(self._spec.key, None)


def spec_of(job: dict[str, Any], objects: FakeObjects) -> JobSpec:
    """The spec that a RayJob's entry point names."""
    *command, uri = shlex.split(job["spec"]["entrypoint"])
    assert command == ["exec", "python", "-m", "training", "--job"]
    bucket, key = layout.split_s3_uri(uri)
    assert bucket == objects.bucket
    body = objects.get(key, limit=1 << 20)
    assert body is not None, f"{key} is to be there before the RayJob is"
    return JobSpec.from_bytes(body, where=key)


def relay_rules() -> tuple[Rule, ...]:
    """What the deployment's own role in the namespace lets the functions do."""
    settings = StackSettings.read(
        {"runner": "kuberay", "cluster_name": "train", "image": "relay:1", "fsx_claim": "fsx"}
    )
    items = json.loads(namespace_access(settings))["items"]
    (role,) = (item for item in items if item["kind"] == "Role")
    return rules_of(role)


def runner_settings(world: ClusterWorld) -> Settings:
    return Settings.read(
        {
            "BUCKET": world.objects.bucket,
            "LEDGER_TABLE": "ledger",
            "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:runs",
            "WORKSPACE_ROOT": "/fsx/relay",
            "PROGRESS_INTERVAL_S": "15",
            "RUNNER": "kuberay",
            "AWS_REGION": REGION,
            "CLUSTER_NAME": world.cluster.name,
            "CLUSTER_NAMESPACE": world.cluster.namespace,
            "JOB_IMAGE": "relay:1",
            "JOB_SERVICE_ACCOUNT": "relay-job",
            "JOB_QUEUE_NAME": QUEUE,
            "FSX_CLAIM": "fsx",
            "RAY_VERSION": "2.60.0",
        }
    )


class _Eks:
    """`eks:DescribeCluster`, as the fake cluster would be described."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        assert name == self._cluster.name
        return {"cluster": self._cluster.described}
