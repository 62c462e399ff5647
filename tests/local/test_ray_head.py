"""A Ray head that listens on loopback only, is closed by a token, and goes as it came."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from relay.local.places import LocalPlaces
from relay.local.ports import Ports, ports_of
from relay.local.processes import Processes
from relay.local.ray_head import start_ray, stop_ray, token_file

pytestmark = pytest.mark.ray
Head = tuple[LocalPlaces, Ports, str]


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Head]:
    places = LocalPlaces(tmp_path_factory.mktemp("ray"))
    places.make()
    processes, ports = Processes(places), ports_of(places)
    try:
        yield places, ports, start_ray(places, processes, ports, num_cpus=2)
    finally:
        family = descendants(places)
        stop_ray(places, processes)
        assert [one for one in family if one.is_running() and not zombie(one)] == []
        assert not places.ray.exists()


def zombie(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    return True


def descendants(places: LocalPlaces) -> list[psutil.Process]:
    leader = psutil.Process(Processes(places).pid("ray"))
    return [leader, *leader.children(recursive=True)]


def ask(places: LocalPlaces, url: str, body: object = None) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {token_file(places).read_text()}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data, {**headers, "Content-Type": "application/json"} if data else headers
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_a_job_runs_and_every_socket_is_on_loopback(head: Head) -> None:
    places, _, address = head
    entry = 'python -c "import ray; ray.init(); print(ray.get(ray.remote(lambda: 1).remote()))"'
    job = {"entrypoint": entry, "submission_id": "one"}
    ask(places, f"{address}/api/jobs/", job)
    seen: set[str] = set()
    give_up_at = time.monotonic() + 60
    while (found := ask(places, f"{address}/api/jobs/one"))["status"] in {"PENDING", "RUNNING"}:
        seen |= listening(places)
        assert time.monotonic() < give_up_at
        time.sleep(0.2)
    assert found["status"] == "SUCCEEDED", found["message"]
    assert seen
    assert seen <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def listening(places: LocalPlaces) -> set[str]:
    found = set()
    for process in descendants(places):
        try:
            sockets = process.net_connections("inet")
        except psutil.Error:
            continue
        found |= {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}
    return found


def test_nobody_without_the_token_gets_in(head: Head) -> None:
    places, _, address = head
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{address}/api/jobs/")
    assert token_file(places).stat().st_mode & 0o077 == 0


def test_a_second_start_finds_the_first(head: Head) -> None:
    places, ports, address = head
    processes = Processes(places)
    pid = processes.pid("ray")
    assert start_ray(places, processes, ports, num_cpus=2) == address
    assert processes.pid("ray") == pid


def test_the_path_of_a_socket_is_short_enough(tmp_path: Path) -> None:
    deep = LocalPlaces(tmp_path / ("b" * 80))
    longest = deep.ray / f"session_{'0' * 26}_{'0' * 7}" / "sockets" / "plasma_store"
    assert len(str(longest)) < 107
