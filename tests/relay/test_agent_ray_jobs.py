"""What the agent takes for granted of Ray's Jobs API: of the real one, and of its stand-in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from process_ray import ProcessRay, sleeper

from contracts.errors import ServiceUnavailable
from relay.agent.ports import RAY_ENDED, JobLook, Jobs, Room
from relay.agent.ray_jobs import RayJobs
from relay.local import ray_head
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of
from relay.local.processes import Processes


@pytest.fixture(scope="module")
def real_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayJobs]:
    places = LocalPlaces(tmp_path_factory.mktemp("ray"))
    places.make()
    processes, ports = Processes(places), ports_of(places)
    try:
        address = ray_head.start_ray(places, processes, ports, 2)
        yield RayJobs(address, ray_head.token_file(places).read_text())
    finally:
        ray_head.stop_ray(places, processes)


@pytest.fixture
def stand_in() -> Iterator[ProcessRay]:
    ray = ProcessRay()
    yield ray
    ray.clear()


@pytest.fixture(params=["stand_in", pytest.param("real_ray", marks=pytest.mark.ray)])
def jobs(request: pytest.FixtureRequest) -> Jobs:
    found: Jobs = request.getfixturevalue(request.param)
    return found


def test_its_room_is_what_it_was_started_with(jobs: Jobs) -> None:
    give_up = time.monotonic() + 60
    while jobs.room() is None and time.monotonic() < give_up:
        time.sleep(0.1)
    assert jobs.room() == Room(cpus=2, gpus=0)


def end_of(jobs: Jobs, name: str, limit_s: float = 60) -> JobLook:
    give_up = time.monotonic() + limit_s
    while (look := jobs.look(name)).state not in RAY_ENDED:
        assert time.monotonic() < give_up, look
        time.sleep(0.1)
    return look


def until_running(jobs: Jobs, name: str) -> None:
    give_up = time.monotonic() + 60
    while jobs.look(name).state != "RUNNING":
        assert time.monotonic() < give_up
        time.sleep(0.1)


def test_an_unknown_job_is_absent_and_stopping_it_is_no_error(jobs: Jobs) -> None:
    assert jobs.look("nobody") == JobLook("ABSENT")
    jobs.stop("nobody")


def test_a_job_succeeds_and_its_environment_arrives(jobs: Jobs, tmp_path: Path) -> None:
    code = "import os, pathlib; pathlib.Path(os.environ['PLACE']).write_text(os.environ['SAID'])"
    place = tmp_path / "a place"
    command = [sleeper(0)[0], "-c", code]
    jobs.start("well", command, {"PLACE": str(place), "SAID": 'it\'s "here"'})
    assert end_of(jobs, "well").state == "SUCCEEDED"
    assert place.read_text() == 'it\'s "here"'


def test_a_failing_job_tells_its_exit_code(jobs: Jobs) -> None:
    jobs.start("ill", sleeper(0, 7), {})
    look = end_of(jobs, "ill")
    assert (look.state, look.exit_code) == ("FAILED", 7)


def test_a_second_start_of_a_job_changes_nothing(jobs: Jobs, tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'count')!r}, 'a').write('x')"
    for _ in range(2):
        jobs.start("twice", [sleeper(0)[0], "-c", code], {})
    end_of(jobs, "twice")
    jobs.start("twice", [sleeper(0)[0], "-c", code], {})
    time.sleep(0.5)
    assert (tmp_path / "count").read_text() == "x"


def test_a_stopped_job_is_stopped_and_stopping_again_is_no_error(jobs: Jobs) -> None:
    jobs.start("stopped", sleeper(60), {})
    until_running(jobs, "stopped")
    jobs.stop("stopped")
    assert end_of(jobs, "stopped").state == "STOPPED"
    jobs.stop("stopped")
    assert jobs.look("stopped").state == "STOPPED"


def test_it_is_reachable(jobs: Jobs) -> None:
    assert jobs.reachable()


def test_where_nobody_listens_ray_is_unreachable() -> None:
    jobs = RayJobs("http://127.0.0.1:9")
    assert jobs.look("any") == JobLook("UNREACHABLE")
    assert not jobs.reachable()
    jobs.stop("any")
    with pytest.raises(ServiceUnavailable, match="any"):
        jobs.start("any", ["true"], {})


@pytest.mark.parametrize("address", ["127.0.0.1:1", "https://127.0.0.1:1", "http://127.0.0.1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="http://host:port"):
        RayJobs(address)
