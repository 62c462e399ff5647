"""Only processes on record are ended, with all that descends from them."""

import json
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from relay.local import stack
from relay.local.deployment import App
from relay.local.errors import GivenUpError
from relay.local.places import LocalPlaces
from relay.local.processes import Processes

STUBBORN = (
    "import signal, subprocess, sys, time;"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "subprocess.Popen(['sleep', '600'], start_new_session=True);"
    "print('ready', flush=True); time.sleep(600)"
)


@pytest.fixture
def places(tmp_path: Path) -> LocalPlaces:
    places = LocalPlaces(tmp_path)
    places.make()
    return places


def test_a_process_is_recorded_logged_and_ended(places: LocalPlaces) -> None:
    processes = Processes(places)
    pid = processes.start("one", ["sh", "-c", "echo said; sleep 600"], {"PATH": "/usr/bin:/bin"})
    assert Processes(places).pid("one") == pid
    while "said" not in places.log("one").read_text():
        time.sleep(0.02)
    processes.stop("one")
    assert not processes.alive("one")
    assert processes.names() == []


def test_temporary_files_go_to_the_stacks_own_folder(places: LocalPlaces, tmp_path: Path) -> None:
    processes, short = Processes(places), tmp_path / "short"
    script = ["sh", "-c", "mktemp -d"]
    for name, folder in (("own", None), ("short", short)):
        processes.start(name, script, {"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp"}, None, folder)
        while processes.alive(name):
            time.sleep(0.02)
    assert str(places.temporary) in places.log("own").read_text()
    assert str(short) in places.log("short").read_text()


def test_one_that_ignores_term_is_killed_with_its_descendants(places: LocalPlaces) -> None:
    processes = Processes(places)
    pid = processes.start("stubborn", [sys.executable, "-c", STUBBORN], {"PATH": "/usr/bin:/bin"})
    while "ready" not in places.log("stubborn").read_text():
        time.sleep(0.02)
    (grandchild,) = psutil.Process(pid).children()
    processes.stop("stubborn", patience_s=0.2)
    assert not psutil.pid_exists(pid)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


def test_descendants_of_a_process_that_is_gone_are_ended(places: LocalPlaces) -> None:
    processes = Processes(places)
    code = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)"
    processes.start("parent", [sys.executable, "-c", code], {"PATH": "/usr/bin:/bin"})
    while processes.alive("parent"):
        time.sleep(0.02)
    processes.stop("parent")
    mark = f"{places.root}#parent"
    left = [p for p in psutil.process_iter(["environ"]) if mark in str(p.info["environ"])]
    assert left == []


def test_a_process_that_got_the_same_id_later_is_left_alone(places: LocalPlaces) -> None:
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        record = {"ours": {"pid": stranger.pid, "created": time.time() - 3600}}
        places.processes.write_text(json.dumps(record))
        processes = Processes(places)
        assert not processes.alive("ours")
        processes.stop("ours")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_one_that_is_started_again_is_the_last_started(places: LocalPlaces) -> None:
    processes = Processes(places)
    for name in ("emulator", "agent"):
        processes.start(name, ["sleep", "600"], {"PATH": "/usr/bin:/bin"})
    psutil.Process(processes.pid("emulator")).kill()
    processes.start("emulator", ["sleep", "600"], {"PATH": "/usr/bin:/bin"})
    assert processes.names() == ["agent", "emulator"]
    for name in processes.names():
        processes.stop(name)


def test_what_is_attached_is_started_anew_when_its_command_changed(
    places: LocalPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack, "_control_plane", lambda *_given: {})
    processes, pids = Processes(places), []
    for seconds in ("600", "600", "601"):
        agent = stack.Attached("agent", lambda _outputs, s=seconds: ["sleep", s])
        settings = stack.Settings(App(Path("app.py"), "S"), ray_cpus=None, attached=[agent])
        stack.up(places, settings)
        pids.append(processes.pid("agent"))
    try:
        assert pids[0] == pids[1] != pids[2]
        assert not psutil.pid_exists(pids[0])
    finally:
        processes.stop("agent")


def test_who_gives_up_starts_nothing_any_more(places: LocalPlaces) -> None:
    processes = Processes(places)
    processes.start("one", ["sleep", "600"], {"PATH": "/usr/bin:/bin"})
    processes.give_up()
    with pytest.raises(GivenUpError, match="two was not started"):
        processes.start("two", ["sleep", "600"], {"PATH": "/usr/bin:/bin"})
    processes.stop("one")
    assert processes.names() == []
