"""What was started and is on no record is ended with the stack, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from relay.local import stack
from relay.local.leftovers import MARK, end_leftovers, leftovers, mark_of
from relay.local.places import LocalPlaces


@pytest.fixture
def places(tmp_path: Path) -> LocalPlaces:
    places = LocalPlaces(tmp_path / "stack")
    places.make()
    return places


@pytest.fixture
def others(places: LocalPlaces) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """One of the stack's Ray, one of its agent, one of another stack; all on no record."""
    marks = {name: mark_of(places, name) for name in ("ray", "agent")}
    marks["another's"] = mark_of(LocalPlaces(places.root / "other"), "ray")
    made = {
        name: subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: mark})
        for name, mark in marks.items()
    }
    yield made
    for process in made.values():
        process.kill()
        process.wait()


def lives(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None


def test_down_ends_what_was_cut_off_before_it_was_on_record(
    places: LocalPlaces, others: dict[str, subprocess.Popen[bytes]]
) -> None:
    assert {process.pid for process in leftovers(places)} == {
        others["ray"].pid,
        others["agent"].pid,
    }
    places.ray.mkdir(exist_ok=True)
    stack.down(places)
    assert {name for name, process in others.items() if lives(process)} == {"another's"}
    assert not places.ray.exists()


def test_those_that_ran_before_are_spared(
    places: LocalPlaces, others: dict[str, subprocess.Popen[bytes]]
) -> None:
    assert end_leftovers(places, {"ray"}) == 1
    assert {name for name, process in others.items() if lives(process)} == {"ray", "another's"}


def test_one_that_no_look_saw_at_first_is_found_by_the_next(
    places: LocalPlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: mark_of(places, "ray")})
    looks: list[float] = []
    environ = psutil.Process.environ

    def unseen_at_first(process: psutil.Process) -> dict[str, str]:
        if process.pid == child.pid and not looks:
            looks.append(time.monotonic())
            return {}
        return environ(process)

    monkeypatch.setattr(psutil.Process, "environ", unseen_at_first)
    assert end_leftovers(places) == 1
    assert child.wait(5) < 0
