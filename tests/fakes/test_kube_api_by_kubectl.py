"""The fake cluster's contract: the real kubectl works against it as against a real one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
import yaml

from cdk.namespace_access import group_of, namespace_access
from cdk.settings import Settings
from fakes.kube_api.cluster import CRDS, FakeCluster
from fakes.kube_api.signing import KEY, SECRET, sign
from fakes.kube_api.work import Idle
from fakes.kubectl import Kubectl, unpack_kubectl

pytestmark = pytest.mark.skipif(not CRDS.exists(), reason="the CRDs are not here")

JOB = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "metadata": {"name": "r1-optimize-1", "labels": {"relay/run": "r1"}},
    "spec": {
        "entrypoint": "python -m training",
        "rayClusterSpec": {
            "headGroupSpec": {
                "rayStartParams": {},
                "template": {"spec": {"containers": [{"name": "head", "image": "ray:1"}]}},
            }
        },
    },
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeCluster]:
    with FakeCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.grant(KEY, secret=SECRET)
        cluster.furnish()
        yield cluster


@pytest.fixture(scope="module")
def kubectl(cluster: FakeCluster, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    home = tmp_path_factory.mktemp("kubectl")
    binary = unpack_kubectl(home)
    token = sign(cluster.name)
    return Kubectl(binary, home, cluster.endpoint, cluster.ca, token, cluster.namespace)


@pytest.fixture(autouse=True)
def _no_jobs(cluster: FakeCluster) -> Iterator[None]:
    yield
    cluster.server.outages.heal()
    for job in cluster.jobs():
        name = job["metadata"]["name"]
        cluster.store.delete(cluster.store.kinds.of("rayjobs"), name, cluster.namespace)
    cluster.step()
    assert cluster.jobs() == []


def manifest(**spec: object) -> str:
    return yaml.safe_dump({**JOB, "spec": {**JOB["spec"], **spec}})


def test_apply_creates_then_changes_then_leaves_alone(kubectl: Kubectl):
    said = [
        kubectl.run("apply", "-f", "-", given=manifest(**spec)).stdout.strip()
        for spec in ({}, {"activeDeadlineSeconds": 60}, {"activeDeadlineSeconds": 60})
    ]
    assert said == [
        "rayjob.ray.io/r1-optimize-1 created",
        "rayjob.ray.io/r1-optimize-1 configured",
        "rayjob.ray.io/r1-optimize-1 unchanged",
    ]
    job = kubectl.get("rayjob", "r1-optimize-1")
    assert job["spec"]["activeDeadlineSeconds"] == 60
    assert job["spec"]["submissionMode"] == "K8sJobMode", "a default of the schema"
    assert job["metadata"]["generation"] == 2


def test_a_field_that_the_schema_does_not_know_is_refused(kubectl: Kubectl):
    done = kubectl.run("apply", "-f", "-", given=manifest(entrypint="a typing error"))
    assert done.returncode != 0
    assert 'strict decoding error: unknown field "spec.entrypint"' in done.stderr


def test_a_field_that_the_schema_does_not_know_is_pruned_when_the_caller_wishes(kubectl: Kubectl):
    given = manifest(entrypint="a typing error")
    done = kubectl.run("apply", "--validate=false", "-f", "-", given=given)
    assert done.returncode == 0, done.stderr
    assert "entrypint" not in kubectl.get("rayjob", "r1-optimize-1")["spec"]


def test_a_value_of_the_wrong_type_is_refused_with_its_place(kubectl: Kubectl):
    done = kubectl.run("create", "-f", "-", given=manifest(activeDeadlineSeconds="soon"))
    assert done.returncode != 0
    assert 'The RayJob "r1-optimize-1" is invalid: spec.activeDeadlineSeconds' in done.stderr


def test_creating_what_is_there_is_a_conflict(kubectl: Kubectl):
    assert kubectl.run("create", "-f", "-", given=manifest()).returncode == 0
    again = kubectl.run("create", "-f", "-", given=manifest())
    assert "AlreadyExists" in again.stderr


def test_replacing_what_has_changed_since_is_a_conflict(kubectl: Kubectl):
    kubectl.run("create", "-f", "-", given=manifest())
    stale = kubectl.get("rayjob", "r1-optimize-1")
    kubectl.run("label", "rayjob", "r1-optimize-1", "a=b")
    done = kubectl.run("replace", "-f", "-", given=json.dumps(stale))
    assert "the object has been modified" in done.stderr


def test_server_side_apply_tells_who_owns_a_field(kubectl: Kubectl):
    apply = ("apply", "--server-side", "-f", "-")
    kubectl.run(*apply, "--field-manager=relay", given=manifest(activeDeadlineSeconds=60))
    theirs = manifest(activeDeadlineSeconds=90)
    refused = kubectl.run(*apply, "--field-manager=someone", given=theirs)
    assert 'conflict with "relay": .spec.activeDeadlineSeconds' in refused.stderr
    forced = kubectl.run(*apply, "--field-manager=someone", "--force-conflicts", given=theirs)
    assert forced.returncode == 0, forced.stderr


def test_get_shows_the_columns_of_the_definition(cluster: FakeCluster, kubectl: Kubectl):
    kubectl.run("create", "-f", "-", given=manifest())
    cluster.step()
    lines = kubectl.run("get", "rayjobs", "-l", "relay/run=r1").stdout.splitlines()
    assert lines[0].split()[:5] == ["NAME", "JOB", "STATUS", "DEPLOYMENT", "STATUS"]
    assert lines[1].split()[:3] == ["r1-optimize-1", "RUNNING", "Running"]
    none = kubectl.run("get", "rayjobs", "-l", "relay/run!=r1")
    assert "No resources found" in none.stderr


def test_a_watch_sees_a_job_come_and_go(cluster: FakeCluster, kubectl: Kubectl):
    watching = kubectl.start("get", "rayjobs", "-w", "--output-watch-events")
    path = f"/apis/ray.io/v1/namespaces/{cluster.namespace}/rayjobs"
    _wait_for(lambda: any(it.path == path and "watch" in it.query for it in cluster.server.heard))
    kubectl.run("create", "-f", "-", given=manifest())
    cluster.step()
    kubectl.run("delete", "rayjob", "r1-optimize-1", "--wait=false")
    cluster.step()
    assert watching.stdout is not None
    seen = []
    while not seen or "DELETED" not in seen[-1]:
        seen.append(watching.stdout.readline())
        assert seen[-1], seen
    watching.kill()
    assert seen[0].split()[:2] == ["EVENT", "NAME"]
    assert "ADDED" in seen[1]
    assert any("MODIFIED" in line for line in seen)


def _wait_for(question, within_s: float = 15) -> None:
    end = time.monotonic() + within_s
    while not question():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_describe_shows_status_and_events(cluster: FakeCluster, kubectl: Kubectl):
    kubectl.run("create", "-f", "-", given=manifest())
    cluster.step()
    told = kubectl.run("describe", "rayjob", "r1-optimize-1").stdout
    assert "Job Deployment Status:  Running" in told
    assert "CreatedRayCluster" in told


def test_logs_are_those_of_the_job(cluster: FakeCluster, kubectl: Kubectl):
    cluster.kuberay.work_of = lambda _job: Idle(cluster.clock, 5, "SUCCEEDED", "one", "two")
    kubectl.run("create", "-f", "-", given=manifest())
    cluster.step()
    (pod,) = kubectl.get("pods", "-l", "job-name=r1-optimize-1")["items"]
    done = kubectl.run("logs", pod["metadata"]["name"], "--tail=1")
    assert done.stdout == "two\n", done.stderr


def test_delete_waits_for_the_finalizer(cluster: FakeCluster, kubectl: Kubectl):
    kubectl.run("create", "-f", "-", given=manifest())
    cluster.step()
    kubectl.run("delete", "rayjob", "r1-optimize-1", "--wait=false")
    going = kubectl.get("rayjob", "r1-optimize-1")
    assert going["metadata"]["deletionTimestamp"]
    cluster.step()
    gone = kubectl.run("get", "rayjob", "r1-optimize-1")
    assert 'rayjobs.ray.io "r1-optimize-1" not found' in gone.stderr
    assert kubectl.get("rayclusters")["items"] == []
    assert kubectl.get("pods")["items"] == []


def test_the_access_that_the_app_writes_is_applied(kubectl: Kubectl):
    settings = Settings.read(
        {"runner": "kuberay", "cluster_name": "train", "image": "relay:1", "fsx_claim": "fsx"}
    )
    # One by one: of a list, kubectl asks first whether its OpenAPI v2 knows it, in protobuf.
    written = yaml.safe_dump_all(json.loads(namespace_access(settings))["items"])
    done = kubectl.run("apply", "-f", "-", given=written)
    assert done.returncode == 0, done.stderr
    (binding,) = kubectl.get("rolebindings")["items"]
    assert binding["subjects"][0]["name"] == group_of(settings)


def test_whoever_has_no_right_is_told_which_one(cluster: FakeCluster, kubectl: Kubectl):
    token = sign(cluster.name, key="AKIANOBODY")
    done = kubectl.run("get", "pods", f"--token={token}")
    assert 'User "AKIANOBODY" cannot list resource "pods" in API group ""' in done.stderr


def test_a_token_for_another_cluster_is_not_taken(kubectl: Kubectl):
    done = kubectl.run("get", "pods", f"--token={sign('another')}")
    assert "You must be logged in" in done.stderr
