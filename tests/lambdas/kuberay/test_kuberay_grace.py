"""What pods run before they stop, by the shell that runs it there, on processes of this test."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lambdas.adapters.kuberay import grace

ADDRESS = "s3://relay-tests/runs/r260304-050607-s00001/1-optimize-2/job.json"
JOB = "r260304-050607-s00001-1-optimize-2"
SAVES = """
import signal, sys, time
def save(*_):
    time.sleep(0.7)
    sys.exit(143)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(30)
"""


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Start processes, which are all that the scripts then see."""
    monkeypatch.setattr(grace, "_COMMANDS", f"{tmp_path}/[0-9]*/cmdline")
    begun: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        made = subprocess.Popen(
            [sys.executable, "-c", SAVES, *words], stdout=subprocess.PIPE, text=True
        )
        begun.append(made)
        assert made.stdout is not None
        assert made.stdout.readline() == "ready\n"
        (tmp_path / str(made.pid)).symlink_to(f"/proc/{made.pid}")
        return made

    yield begin
    for process in begun:
        process.kill()
        process.wait()


def seconds(lifecycle: dict[str, Any], reap: subprocess.Popen[str] | None = None) -> float:
    """How long a hook runs; a process that ended is reaped, as a pod's first process does."""
    began = time.monotonic()
    running = subprocess.Popen(lifecycle["preStop"]["exec"]["command"])
    while running.poll() is None:
        if reap is not None:
            reap.poll()
        time.sleep(0.02)
    assert running.returncode == 0
    return time.monotonic() - began


def test_the_heads_pod_asks_the_driver_to_end_and_waits_until_it_has(processes: Any) -> None:
    driver, other = processes("-m", "training", "--job", ADDRESS), processes("ray::IDLE")
    took = seconds(grace.before_head_stops(), driver)
    assert driver.wait(5) == 143
    assert 0.6 < took < 5
    assert other.poll() is None


def test_a_workers_pod_asks_the_jobs_work_by_its_mark_and_waits_for_it(
    processes: Any, tmp_path: Path
) -> None:
    work, mark = processes(f"ray::{JOB}"), tmp_path / "it's a mark"
    hook = subprocess.Popen(before_worker_stops(mark)["preStop"]["exec"]["command"])
    time.sleep(1.2)
    assert (hook.poll(), work.poll(), mark.exists()) == (None, None, True)
    work.kill()
    work.wait()
    assert hook.wait(5) == 0


def before_worker_stops(mark: Path) -> dict[str, Any]:
    return grace.before_worker_stops(JOB, str(mark))


@pytest.mark.parametrize("lifecycle", ["head", "worker"])
def test_pods_of_a_job_that_has_ended_stop_at_once(
    processes: Any, lifecycle: str, tmp_path: Path
) -> None:
    processes("ray::IDLE")
    processes("ray::DashboardAgent")
    hook = (
        grace.before_head_stops()
        if lifecycle == "head"
        else before_worker_stops(tmp_path / "no such folder" / "mark")
    )
    assert seconds(hook) < 2


def test_the_hook_is_shorter_than_the_pods_grace() -> None:
    assert grace.SAVING_S < grace.TERMINATION_GRACE_S
