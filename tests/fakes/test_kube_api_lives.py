"""Lives of RayJobs as KubeRay and Kueue play them in the fake cluster."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.kube_api.cluster import CRDS
from fakes.kube_api.kuberay_stories import Story, head_lost, healthy, submission_failed
from fakes.kube_api.work import Idle
from fakes.plain_client import (
    Body,
    Client,
    client,
    cluster,
    rayjob,
)

pytestmark = pytest.mark.skipif(not CRDS.exists(), reason="the CRDs are not here")
__all__ = ["client", "cluster"]


def lived(client: Client, story: Story = healthy, seconds: float = 1, **spec: Any) -> Body:
    """The RayJob's status after an hour."""
    cluster = client.cluster
    cluster.kuberay.story_of = lambda _job: story
    cluster.kuberay.work_of = lambda _job: Idle(cluster.clock, seconds)
    assert client.make(**spec)[0] == 201
    for _ in range(12):
        cluster.step(2)
        cluster.clock.advance(300)
    cluster.step()
    job = cluster.job("job")
    assert job is not None
    found: Body = job["status"]
    return found


def test_a_healthy_life_ends_complete_and_its_cluster_goes_after_its_time(client: Client):
    status = lived(client, shutdownAfterJobFinishes=True, ttlSecondsAfterFinished=600)
    assert (status["jobStatus"], status["jobDeploymentStatus"]) == ("SUCCEEDED", "Complete")
    assert (status["succeeded"], "reason" in status) == (1, False)
    assert client.call("GET", client.at("rayclusters"))[1]["items"] == []


def test_retries_are_new_clusters_until_they_are_used_up(client: Client):
    status = lived(client, submission_failed, backoffLimit=2)
    assert (status["failed"], status["jobDeploymentStatus"]) == (3, "Failed")
    created = [
        event["message"]
        for event in client.call("GET", client.at("events"))[1]["items"]
        if event["reason"] == "CreatedRayCluster"
    ]
    assert len(set(created)) == 3


@pytest.mark.parametrize(
    ("story", "seconds"), [(healthy, 9_999), (head_lost(noticed_after_s=None), 1)]
)
def test_the_deadline_ends_a_life_and_is_never_retried(
    client: Client, story: Story, seconds: float
):
    status = lived(client, story, seconds, activeDeadlineSeconds=900, backoffLimit=3)
    assert (status["jobDeploymentStatus"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert status["jobStatus"] == "RUNNING"


def test_a_lost_head_is_noticed_after_five_minutes(client: Client):
    status = lived(client, head_lost())
    assert status["reason"] == "JobStatusCheckTimeoutExceeded"
    assert (status["jobStatus"], status["jobDeploymentStatus"]) == ("RUNNING", "Failed")


@pytest.mark.parametrize(
    "spec",
    [
        {"ttlSecondsAfterFinished": 5},
        {"backoffLimit": -1},
        {"clusterSelector": {"ray.io/cluster": "shared"}, "backoffLimit": 1},
        {"suspend": True},
        {"activeDeadlineSeconds": 0},
    ],
)
def test_what_kuberay_refuses_stays_so(client: Client, spec: Body):
    status = lived(client, **spec)
    assert status["jobDeploymentStatus"] == "ValidationFailed"


def test_a_queue_that_is_not_there_admits_nothing(client: Client):
    item = rayjob(shutdownAfterJobFinishes=True)
    item["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "nowhere"
    _, made = client.call("POST", client.at("rayjobs"), item)
    assert made["spec"]["suspend"] is True
    client.cluster.step(3)
    (workload,) = client.call("GET", client.at("workloads"))[1]["items"]
    (condition,) = workload["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "Inadmissible")
    job = client.cluster.job("job")
    assert job is not None
    assert job["status"]["jobDeploymentStatus"] == "Suspended"


def test_kueue_takes_no_job_that_keeps_its_cluster(client: Client):
    item = rayjob()
    item["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "relay-queue"
    code, status = client.call("POST", client.at("rayjobs"), item)
    assert (code, "should delete the cluster" in status["message"]) == (422, True)
