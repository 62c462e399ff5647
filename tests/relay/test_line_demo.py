"""The demonstration: the whole line from nothing, and nothing left however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from relay.local.leftovers import leftovers
from relay.local.places import LocalPlaces

pytestmark = [pytest.mark.line, pytest.mark.emulator, pytest.mark.ray, pytest.mark.timeout(1200)]

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = CHECKOUT / "examples"
LIMIT_S = 900


@pytest.fixture(params=["guess-number"])
def demo(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A demonstration under way, in a folder of its own."""
    chosen = ["--example", request.param, "--seed", "1", "--output", "json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", "demo", *chosen],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "talk").open("w"),
        text=True,
        start_new_session=True,
    )
    yield process
    process.kill()
    process.wait()


def places_in(folder: Path) -> LocalPlaces:
    return LocalPlaces((folder / ".relay" / "demo" / "stack").resolve())


def assert_nothing_is_left(folder: Path, process: subprocess.Popen[str]) -> None:
    places = places_in(folder)
    assert leftovers(places) == []
    assert not places.ray.exists()
    mine = [one for one in psutil.process_iter() if process.pid in session_and_parent(one)]
    assert [one for one in mine if one.pid != process.pid] == []
    mentioned = [one.info["cmdline"] for one in psutil.process_iter(["cmdline"])]
    assert not [line for line in mentioned if str(places.root) in " ".join(line or [])]


def session_and_parent(process: psutil.Process) -> tuple[int, int]:
    try:
        return os.getsid(process.pid), process.ppid()
    except (psutil.Error, OSError):
        return -1, -1


def until_said(folder: Path, words: str) -> None:
    give_up = time.monotonic() + LIMIT_S
    while words not in (folder / "talk").read_text():
        assert time.monotonic() < give_up, f"{words!r} was not said"
        time.sleep(0.05)


def end_of(demo: subprocess.Popen[str], folder: Path) -> Any:
    out, _ = demo.communicate(timeout=LIMIT_S)
    assert demo.returncode == 0, (folder / "talk").read_text()
    found = json.loads(out)
    print(found)
    assert found["status"] == "PUBLISHED"
    assert 0 < found["overhead_seconds"] < found["seconds"]
    assert found["policy"]["version"] == 1
    assert found["policy"]["uri"].startswith("s3://")
    assert_nothing_is_left(folder, demo)
    return found


def judged(folder: Path, *arguments: Path | str) -> Any:
    judge = [sys.executable, *map(str, arguments)]
    told = subprocess.run(judge, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(told.stdout)


@pytest.mark.parametrize("demo", ["preferences"], indirect=True)
def test_dropped_pairs_become_a_better_policy_that_plain_transformers_loads(
    demo: subprocess.Popen[str], tmp_path: Path
) -> None:
    found = end_of(demo, tmp_path)
    assert found["start"]["pairs"] == found["end"]["pairs"] > 100
    assert found["end"]["accuracy"] > found["start"]["accuracy"] + 0.2
    example = EXAMPLES / "preferences"
    verdict = judged(
        tmp_path, example / "judge.py", found["policy"]["folder"], example / "pairs.jsonl"
    )
    assert verdict["accuracy"] == pytest.approx(found["end"]["accuracy"])


def test_dropped_games_become_a_policy_that_plays_well_by_plain_transformers(
    demo: subprocess.Popen[str], tmp_path: Path
) -> None:
    found = end_of(demo, tmp_path)
    first, second = found["rounds"]
    assert found["start"]["success_rate"] < 0.05
    assert 0.3 <= first["success_rate"] <= 0.75
    assert second["success_rate"] == found["end"]["success_rate"] >= 0.9
    assert second["success_rate"] >= first["success_rate"] + 0.15
    assert found["end"]["episodes"] == 1024
    assert [step["algorithm"] for step in found["steps"]] == ["sft", "dpo", "ppo"]
    assert "</svg>" in Path(found["picture"]).read_text()
    verdict = judged(tmp_path, EXAMPLES / "guess-number" / "judge.py", found["policy"]["folder"])
    # 512 games of the judge's own and 1024 of the evaluation's: four standard errors apart.
    assert verdict["success_rate"] == pytest.approx(found["end"]["success_rate"], abs=0.06)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("Starting Ray", signal.SIGINT),
        ("Deploying the control plane", signal.SIGTERM),
        ("Collect rollouts", signal.SIGTERM),
        ("Optimize policy: Training by sft", signal.SIGHUP),
        ("Collect rollouts: Playing", signal.SIGINT),
    ],
)
def test_an_interrupt_at_any_point_leaves_nothing_running(
    demo: subprocess.Popen[str], tmp_path: Path, words: str, number: int
) -> None:
    until_said(tmp_path, words)
    demo.send_signal(number)
    time.sleep(0.3)
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert "nothing is left running" in (tmp_path / "talk").read_text()
    assert_nothing_is_left(tmp_path, demo)
