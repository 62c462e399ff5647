"""The runner's port over RayJobs: repeated calls, two at a time, and a cluster that is away."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.clock import FakeClock
from fakes.objects import FakeObjects
from kuberay.conftest import MemoryCluster, job_spec, settings

from contracts import layout
from contracts.errors import ClusterRefused, JobConflict, PipelineInvalid
from contracts.hardware import Hardware
from contracts.job import Claim, Exit, Stop
from lambdas.adapters.kuberay.runner import KubeRayRunner

SPEC = job_spec()
KEY = SPEC.key
NAME = KEY.job_name


@pytest.fixture
def objects() -> FakeObjects:
    return FakeObjects()


@pytest.fixture
def runner(objects: FakeObjects, cluster: MemoryCluster, clock: FakeClock) -> KubeRayRunner:
    return KubeRayRunner(objects, cluster, settings(), clock)  # type: ignore[arg-type]


def there(objects: FakeObjects, key: str) -> bool:
    return objects.head(key) is not None


def test_a_started_job_is_a_spec_in_the_bucket_and_a_rayjob(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    runner.start(SPEC)
    assert objects.get(layout.job(KEY), limit=1 << 20) == SPEC.to_bytes()
    assert cluster.made == [NAME]
    claim = Claim.from_bytes(objects.get(layout.claim(KEY), limit=1 << 20) or b"", where="claim")
    assert claim.agent == "kuberay team/hyperpod-ns-team"


def test_the_same_spec_any_number_of_times_is_one_job(
    runner: KubeRayRunner, cluster: MemoryCluster
) -> None:
    for _ in range(3):
        runner.start(SPEC)
        runner.ring(KEY)
    assert cluster.made == [NAME]


def test_a_rayjob_of_the_same_spec_is_adopted(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    """The answer to the first request was lost."""
    runner.start(SPEC)
    del objects.versions[layout.claim(KEY)]
    runner.start(SPEC)
    assert cluster.made == [NAME]
    assert there(objects, layout.claim(KEY))


def test_another_spec_of_the_same_name_is_a_conflict(runner: KubeRayRunner) -> None:
    runner.start(SPEC)
    with pytest.raises(JobConflict, match=r"job\.json holds another job"):
        runner.start(job_spec(nonce="m" * 32))


def test_a_strangers_rayjob_of_the_same_name_is_a_conflict(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    runner.start(SPEC)
    objects.versions.clear()
    with pytest.raises(JobConflict, match="is the namespace shared"):
        runner.start(job_spec(nonce="m" * 32))
    assert not there(objects, layout.claim(KEY))


def test_a_cluster_that_is_away_costs_no_attempt(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    cluster.is_down = True
    runner.start(SPEC)
    assert there(objects, layout.job(KEY))
    assert runner.look(KEY).state == "unknown"
    assert "nobody answers" in runner.look(KEY).reason
    runner.ring(KEY)
    cluster.is_down = False
    assert runner.look(KEY).state == "waiting"
    runner.ring(KEY)
    assert cluster.made == [NAME]


def test_a_ring_for_no_job_does_nothing(runner: KubeRayRunner, cluster: MemoryCluster) -> None:
    runner.ring(KEY)
    assert cluster.made == []
    assert runner.look(KEY).state == "absent"


def test_a_job_that_was_stopped_first_never_starts(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    runner.stop(KEY, "the run ended")
    runner.start(SPEC)
    runner.ring(KEY)
    assert cluster.made == []
    mark = Exit.from_bytes(objects.get(layout.exit_(KEY), limit=1 << 20) or b"", where="exit")
    assert mark.how == "refused"
    assert runner.look(KEY).state == "ended"


def test_a_job_that_is_stopped_while_it_is_made_does_not_stay(
    runner: KubeRayRunner, cluster: MemoryCluster
) -> None:
    """`stop` looked for a RayJob before `start` had made it."""

    def stopped_meanwhile() -> None:
        made = cluster.rayjobs.pop(NAME)
        runner.stop(KEY, "a newer attempt takes over")
        cluster.rayjobs[NAME] = made

    cluster.on_create = stopped_meanwhile
    runner.start(SPEC)
    assert cluster.rayjobs == {}


def test_a_job_past_its_deadline_never_starts(
    runner: KubeRayRunner, cluster: MemoryCluster, clock: FakeClock
) -> None:
    clock.advance(3600)
    runner.start(SPEC)
    assert cluster.made == []
    assert runner.look(KEY).state == "ended"
    assert "its deadline had passed" in runner.look(KEY).reason


def test_hardware_that_is_not_there_is_said_at_once(runner: KubeRayRunner) -> None:
    with pytest.raises(PipelineInvalid, match="100 CPUs"):
        runner.start(job_spec(hardware=Hardware(cpus=100)))


def test_a_stopped_job_is_gone_when_its_last_pod_is(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    runner.start(SPEC)
    cluster.show(NAME, jobStatus="RUNNING", jobDeploymentStatus="Running")
    cluster.lingers = True
    cluster.pods_of[NAME] = [{"metadata": {"name": "w"}, "status": {"phase": "Running"}}]
    for _ in range(2):
        runner.stop(KEY, "cancelled")
    assert runner.look(KEY).state == "running"
    del cluster.rayjobs[NAME]
    assert runner.look(KEY).state == "running"
    cluster.pods_of[NAME][0]["status"]["phase"] = "Failed"
    assert runner.look(KEY) == ("ended", "stopped: cancelled", "JobCrashed")
    mark = Stop.from_bytes(objects.get(layout.stop(KEY), limit=1 << 20) or b"", where="stop")
    assert mark.reason == "cancelled"


def test_a_stop_is_kept_while_the_cluster_is_away(
    runner: KubeRayRunner, objects: FakeObjects, cluster: MemoryCluster
) -> None:
    runner.start(SPEC)
    cluster.is_down = True
    runner.stop(KEY, "cancelled")
    assert there(objects, layout.stop(KEY))
    assert runner.look(KEY).state == "unknown"
    cluster.is_down = False
    runner.stop(KEY, "cancelled")
    assert cluster.rayjobs == {}


def test_a_rayjob_deleted_by_hand_has_vanished_and_is_not_made_again(
    runner: KubeRayRunner, cluster: MemoryCluster
) -> None:
    runner.start(SPEC)
    cluster.rayjobs.clear()
    look = runner.look(KEY)
    assert (look.state, look.error) == ("ended", "JobCrashed")
    assert "deleted by hand" in look.reason
    runner.ring(KEY)
    runner.start(SPEC)
    assert cluster.made == [NAME]


@pytest.mark.parametrize(
    ("status", "state", "error"),
    [
        ({}, "waiting", "JobCrashed"),
        ({"jobDeploymentStatus": "Initializing"}, "waiting", "JobCrashed"),
        ({"jobDeploymentStatus": "Suspended"}, "queued", "JobCrashed"),
        ({"jobStatus": "RUNNING", "jobDeploymentStatus": "Running"}, "running", "JobCrashed"),
        ({"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Complete"}, "ended", "JobCrashed"),
        ({"jobDeploymentStatus": "ValidationFailed"}, "ended", "JobInvalid"),
        (
            {"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded", "failed": 1},
            "ended",
            "DeadlineExceeded",
        ),
    ],
)
def test_a_rayjobs_status_is_looked_up(
    runner: KubeRayRunner, cluster: MemoryCluster, status: dict[str, Any], state: str, error: str
) -> None:
    runner.start(SPEC)
    cluster.show(NAME, **status)
    look = runner.look(KEY)
    assert (look.state, look.error) == (state, error)


def test_a_waiting_job_says_why(runner: KubeRayRunner, cluster: MemoryCluster) -> None:
    runner.start(SPEC)
    cluster.show(NAME, jobDeploymentStatus="Suspended")
    assert runner.look(KEY).reason.startswith("waiting for quota; Kueue has not taken note")
    pending = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "full"}
    cluster.workloads_of[f"uid-{NAME}"] = [{"status": {"conditions": [pending]}}]
    assert runner.look(KEY).reason == "waiting for quota: full"
    cluster.show(NAME, jobDeploymentStatus="Initializing", rayClusterName="cluster-1")
    failed = {"type": "Warning", "reason": "FailedToCreateHeadPod", "message": "exceeded quota"}
    cluster.events_of["cluster-1"] = [failed]
    assert runner.look(KEY).reason == "FailedToCreateHeadPod: exceeded quota"
    head = {
        "metadata": {"name": "head-1", "labels": {"relay/role": "head"}},
        "status": {"phase": "Pending"},
    }
    cluster.pods_of[NAME] = [head]
    cluster.events_of["head-1"] = [{"type": "Warning", "reason": "FailedMount", "message": "fsx"}]
    assert runner.look(KEY).reason == "FailedMount: fsx"


def test_the_last_words_are_how_it_was_killed_and_the_drivers_log(
    runner: KubeRayRunner, cluster: MemoryCluster
) -> None:
    def pod(role: str, reason: str = "") -> dict[str, Any]:
        state = {"terminated": {"reason": reason}}
        return {
            "metadata": {"name": f"pod-{role}", "labels": {"relay/role": role}},
            "status": {"phase": "Failed", "containerStatuses": [{"state": state}]},
        }

    assert runner.last_words(KEY) == ""
    cluster.logs = {"pod-head": "head's\n", "pod-submitter": "Loss 0.5\nKilled\n"}
    cluster.pods_of[NAME] = [pod("head")]
    assert runner.last_words(KEY) == "its log ends: head's"
    cluster.pods_of[NAME] = [pod("head"), pod("submitter"), pod("worker", "OOMKilled")]
    assert runner.last_words(KEY) == (
        "the worker was killed for using more memory than its profile has; "
        "its log ends: Loss 0.5 | Killed"
    )
    cluster.logs["pod-submitter"] = "x" * 10_000
    assert len(runner.last_words(KEY)) < 700
    cluster.is_down = True
    assert runner.last_words(KEY) == "its log cannot be read: nobody answers"


def test_only_this_stacks_jobs_are_listed(
    runner: KubeRayRunner, cluster: MemoryCluster, objects: FakeObjects, clock: FakeClock
) -> None:
    other = settings(BUCKET="another-bucket")
    elsewhere = FakeObjects(bucket="another-bucket")
    runner.start(SPEC)
    KubeRayRunner(elsewhere, cluster, other, clock).start(  # type: ignore[arg-type]
        job_spec(bucket="another-bucket", round=2)
    )
    cluster.rayjobs["not-ours"] = {
        "metadata": {"name": "not-ours", "labels": {"relay/bucket": "relay-tests"}}
    }
    assert len(cluster.rayjobs) == 3
    assert runner.list() == (KEY,)


def test_lacking_the_right_to_see_why_a_job_waits_is_no_reason_to_let_it_die(
    runner: KubeRayRunner, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_name: str) -> list[dict[str, Any]]:
        raise ClusterRefused("events is forbidden")

    runner.start(SPEC)
    monkeypatch.setattr(cluster, "events", refuse)
    monkeypatch.setattr(cluster, "workloads", refuse)
    look = runner.look(KEY)
    assert (look.state, look.reason) == (
        "waiting",
        "starting (KubeRay has not looked at it yet); why cannot be read: events is forbidden",
    )
    cluster.show(NAME, jobDeploymentStatus="Suspended")
    assert runner.look(KEY).state == "queued"


def test_a_rayjob_that_is_made_while_it_is_looked_for_is_not_gone(
    runner: KubeRayRunner, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    pods = cluster.pods

    def made_meanwhile(name: str) -> Any:
        if not cluster.made:
            runner.start(SPEC)
        return pods(name)

    monkeypatch.setattr(cluster, "pods", made_meanwhile)
    assert runner.look(KEY).state == "waiting"
    assert runner.look(KEY).state == "waiting"
    cluster.delete(NAME)
    assert runner.look(KEY).state == "ended"
