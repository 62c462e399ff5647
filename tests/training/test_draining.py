"""A pod's last act: who is asked, who is waited for, and for how long."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from training.draining import LIMIT_S, Busy, busy, drain
from training.stopping import _LAST_RESORT_S, GRACE_S

NOBODY = Busy(frozenset(), frozenset())
SAVES = (
    "import signal,sys,time; signal.signal(15, lambda *_: sys.exit(143)); print(); time.sleep(60)"
)
DEAF = "import signal,time; signal.signal(15, signal.SIG_IGN); print(); time.sleep(60)"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a driver behind its shell, a worker that trains, and others."""
    lines = {
        "1": "ray\0start\0--head\0--block",
        "20": "/bin/sh\0-c\0python -m training --job s3://b/runs/r/job.json",
        "21": "/usr/bin/python\0-m\0training\0--job\0s3://b/runs/r/job.json",
        "22": "ray::r260101-120000-aaaaaa-1-optimize-1",
        "23": "ray::IDLE",
        "24": "ray::JobSupervisor",
        "25": "/usr/bin/python\0-m\0training.draining",
    }
    for pid, line in lines.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes(line.encode() + b"\0")
    (tmp_path / "26").mkdir()
    (tmp_path / "meminfo").touch()
    return tmp_path


def test_drivers_and_work_are_told_from_everything_else(machine: Path) -> None:
    assert busy(machine) == Busy(frozenset({21}), frozenset({22}))


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for one in made:
        one.kill()
        one.wait()


def start(started: list[subprocess.Popen[bytes]], script: str) -> int:
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    started.append(process)
    return process.pid


def alive(*pids: int) -> frozenset[int]:
    running = (pid for pid in pids if psutil.pid_exists(pid))
    return frozenset(p for p in running if psutil.Process(p).status() != psutil.STATUS_ZOMBIE)


def test_a_driver_is_asked_and_waited_for(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, SAVES)
    assert drain(lambda: Busy(alive(pid), frozenset()), limit_s=20) == NOBODY
    assert started[0].wait(5) == 143


def test_work_is_waited_for_and_never_signalled(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, SAVES)
    left = drain(lambda: Busy(frozenset(), alive(pid)), limit_s=0.3)
    assert left == Busy(frozenset(), frozenset({pid}))
    assert started[0].poll() is None


def test_a_driver_that_does_not_end_is_given_up_when_the_time_is_over(
    started: list[subprocess.Popen[bytes]],
) -> None:
    pid = start(started, DEAF)
    assert drain(lambda: Busy(alive(pid), frozenset()), limit_s=0.3).drivers == {pid}
    started[0].send_signal(signal.SIGKILL)
    assert drain(lambda: Busy(alive(pid), frozenset()), limit_s=20) == NOBODY


def test_a_pid_that_is_gone_by_now_is_no_error() -> None:
    looks = iter([Busy(frozenset({2**22 - 1}), frozenset()), NOBODY])
    assert drain(lambda: next(looks), limit_s=20) == NOBODY


def test_draining_outlasts_the_grace_of_a_stop() -> None:
    assert LIMIT_S > GRACE_S + _LAST_RESORT_S
