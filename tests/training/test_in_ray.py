"""Jobs as they really run: a process of their own, its work a task of a running Ray."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import psutil
import pytest
from botocore.config import Config
from job_box import BUCKET, Box, recipe
from sample_pairs import make_pairs, openai_file

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of
from relay.local.processes import Processes
from relay.local.ray_head import ray_environment, start_ray, stop_ray
from training.cluster import ThisProcess

pytestmark = pytest.mark.ray
ENDLESS = {"steps": 100_000, "checkpoint_every": 5, "learning_rate": 1e-4}
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def ray_there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A Ray head; the environment that joins it."""
    places = LocalPlaces(tmp_path_factory.mktemp("ray"))
    places.make()
    processes, ports = Processes(places), ports_of(places)
    try:
        start_ray(places, processes, ports, num_cpus=2)
        root = str(Path(__file__).parents[2])
        yield ray_environment(places, ports) | CREDENTIALS | {"PYTHONPATH": root}
    finally:
        stop_ray(places, processes)


@pytest.fixture(scope="module")
def s3_there() -> Iterator[str]:
    """An S3 that other processes can reach; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "MINISTACK_HOST": "127.0.0.1"}
    off = {"IOT_MTLS_ENABLED": "0", "SFTP_ENABLED": "0"}
    server = subprocess.Popen(
        [str(Path(sys.executable).with_name("ministack"))],
        env=os.environ | places | off,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: answers(port), 30)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def cluster_box(tmp_path: Path, s3_there: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    """A planned drop of forty pairs in a bucket that jobs reach, and a workspace."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    client = boto3.client(
        "s3", endpoint_url=s3_there, config=Config(s3={"addressing_style": "path"})
    )
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    box = Box(client, tmp_path, recipe(optimize=ENDLESS))
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    yield box
    for version in client.list_object_versions(Bucket=BUCKET).get("Versions", []):
        client.delete_object(Bucket=BUCKET, Key=version["Key"], VersionId=version["VersionId"])
    client.delete_bucket(Bucket=BUCKET)


def wait_for(condition: Callable[[], object], seconds: float) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at, "waited in vain"
        time.sleep(0.1)


def collected(box: Box, environment: dict[str, str]) -> dict[str, ArtifactRef]:
    spec = box.job("collect")
    assert box.start(spec, **environment).wait(60) == 0
    artifacts = box.result(spec).artifacts
    return {name: artifacts[name] for name in ("episodes", "start")}


def step_of(box: Box, spec: JobSpec) -> int:
    found = layout.progress(spec.key)
    return box.progress(spec).step if found in box.keys(layout.RUNS) else 0


def workers(spec: JobSpec) -> list[psutil.Process]:
    """Processes that Ray named after the job's task."""
    return [
        one
        for one in psutil.process_iter(["cmdline"])
        if spec.key.job_name in " ".join(one.info["cmdline"] or [])
        and "-m training" not in " ".join(one.info["cmdline"] or [])
    ]


def test_a_killed_driver_takes_its_worker_along_and_the_next_attempt_goes_on(
    cluster_box: Box, ray_there: dict[str, str]
) -> None:
    inputs = collected(cluster_box, ray_there)
    first = cluster_box.job("optimize", inputs)
    process = cluster_box.start(first, **ray_there)
    wait_for(lambda: step_of(cluster_box, first) > 12, 60)
    assert workers(first)
    process.kill()
    process.wait()
    wait_for(lambda: not workers(first), 15)
    assert layout.result(first.key) not in cluster_box.keys(layout.RUNS)

    second = cluster_box.job("optimize", inputs, attempt=2)
    process = cluster_box.start(second, **ray_there)
    wait_for(lambda: step_of(cluster_box, second) > 12, 60)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    assert layout.result(second.key) not in cluster_box.keys(layout.RUNS)
    stopped_at = newest_step(cluster_box)
    assert stopped_at >= step_of(cluster_box, second)
    wait_for(lambda: not workers(second), 15)

    third = cluster_box.job(
        "optimize", inputs, attempt=3, deadline=datetime.now(UTC) + timedelta(seconds=12)
    )
    assert cluster_box.start(third, **ray_there).wait(60) == 1
    failure = cluster_box.result(third).failure
    assert failure is not None
    assert failure.error == "DeadlineExceeded"
    assert newest_step(cluster_box) > stopped_at


def test_a_job_that_is_terminated_saves_the_step_it_is_at_and_the_next_attempt_goes_on_there(
    cluster_box: Box, ray_there: dict[str, str]
) -> None:
    """Only the signal can have made the checkpoint: the recipe keeps none before its end."""
    rare = ENDLESS | {"steps": 400, "checkpoint_every": 100_000}
    cluster_box.pipeline = recipe(optimize=rare)
    cluster_box.plan()
    inputs = collected(cluster_box, ray_there)
    first = cluster_box.job("optimize", inputs)
    process = cluster_box.start(first, **ray_there)
    wait_for(lambda: step_of(cluster_box, first) > 5, 60)
    process.terminate()
    seen = step_of(cluster_box, first)
    assert process.wait(30) == 143
    assert layout.result(first.key) not in cluster_box.keys(layout.RUNS)
    saved = newest_step(cluster_box)
    assert seen <= saved < 400

    second = cluster_box.job("optimize", inputs, attempt=2)
    assert cluster_box.start(second, **ray_there).wait(60) == 0
    result = cluster_box.result(second)
    assert f"step {saved} " in f"{result.resumed_from} "
    assert result.metrics["steps"] == 400


def newest_step(box: Box) -> int:
    return max(int(path.name[5:]) for path in box.folder.rglob("step-*") if path.is_dir())


def test_a_killed_worker_fails_the_job_at_once_with_a_word(
    cluster_box: Box, ray_there: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.attempt.join", ThisProcess)
    artifacts = cluster_box.finished("collect").artifacts
    inputs = {name: artifacts[name] for name in ("episodes", "start")}
    spec = cluster_box.job("optimize", inputs)
    process = cluster_box.start(spec, **ray_there)
    wait_for(lambda: step_of(cluster_box, spec) > 2, 60)
    for worker in workers(spec):
        worker.kill()
    assert process.wait(30) == 1
    failure = cluster_box.result(spec).failure
    assert failure is not None
    assert failure.error == "JobCrashed"
    assert "process died" in failure.cause


def test_what_ray_cannot_give_is_named_and_the_job_still_listens(
    cluster_box: Box, ray_there: dict[str, str]
) -> None:
    cluster_box.pipeline = recipe(hardware={"cpus": 64})
    cluster_box.plan()
    spec = cluster_box.job("collect")
    process = cluster_box.start(spec, **ray_there)
    wait_for(lambda: stage_of(cluster_box, spec).startswith("Waiting for Ray"), 30)
    assert stage_of(cluster_box, spec) == "Waiting for Ray: 64 CPUs and 0 GPUs, of 2 and 0"
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 143


def stage_of(box: Box, spec: JobSpec) -> str:
    found = layout.progress(spec.key)
    return box.progress(spec).stage if found in box.keys(layout.RUNS) else ""
