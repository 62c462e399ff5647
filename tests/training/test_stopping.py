"""Ending early: who is asked, how long there is, and what is left behind."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from contracts.errors import JobCrashed, JobNotStarted
from training import hearing
from training.assignment import Assignment
from training.cluster import ThisProcess
from training.events import Advance, Done, Event, Stopped
from training.hearing import Hearing
from training.reporter import Reporter
from training.stopping import StopRequest


class Said:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def report(self, advance: Advance) -> None:
        self.stages.append(advance.stage)

    def tick(self) -> None:
        self.stages.append("tick")


def heard(stop: StopRequest, said: Said, *events: Event | None) -> Done | None:
    patience = SimpleNamespace(start_limit_s=10)
    plan = SimpleNamespace(pipeline=SimpleNamespace(patience=patience))
    spec = SimpleNamespace(phase="collect")
    assignment = cast(Assignment, SimpleNamespace(plan=plan, spec=spec))
    made = Hearing(cast(Reporter, said), stop)
    return made.listen(ThisProcess(), iter(events), assignment)


@pytest.fixture
def stop(tmp_path: Path) -> Iterator[StopRequest]:
    with StopRequest(tmp_path / "attempt" / "mark", grace_s=30) as made:
        yield made


def test_a_signal_during_work_leaves_a_mark_that_the_work_sees(
    stop: StopRequest, tmp_path: Path
) -> None:
    stop.listen(lambda: True)
    os.kill(os.getpid(), signal.SIGTERM)
    assert (tmp_path / "attempt" / "mark").exists()
    assert (stop.reason, stop.exit_code, stop.overdue) == ("signal", 143, False)


def test_a_signal_while_there_is_no_work_ends_the_process_at_once(stop: StopRequest) -> None:
    stop.listen(lambda: False)
    with pytest.raises(SystemExit) as caught:
        signal.raise_signal(signal.SIGINT)
    assert caught.value.code == 130


def test_afterwards_signals_and_timers_are_as_before(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM), threading.active_count()
    with StopRequest(tmp_path / "mark") as made:
        made.listen(lambda: True)
        made.at(datetime.now(UTC) + timedelta(hours=1), last_resort=lambda: None)
        assert signal.getsignal(signal.SIGTERM) != before[0]
    give_up_at = time.monotonic() + 5
    while threading.active_count() > before[1] and time.monotonic() < give_up_at:
        time.sleep(0.01)
    assert (signal.getsignal(signal.SIGTERM), threading.active_count()) == before


def test_a_mark_of_an_earlier_process_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "mark").touch()
    with StopRequest(tmp_path / "mark"):
        assert not (tmp_path / "mark").exists()


def test_the_first_reason_counts(stop: StopRequest) -> None:
    stop.ask("deadline")
    stop.ask("signal")
    assert stop.reason == "deadline"


def test_the_outcome_is_what_the_work_says_last(stop: StopRequest) -> None:
    said = Said()
    done = Done(notes=("well",))
    assert heard(stop, said, Advance("one"), None, Advance("two"), done) == done
    assert said.stages == ["one", "tick", "two"]
    assert heard(stop, said, Advance("one"), Stopped(3)) is None


def test_work_that_does_not_stop_is_left_when_the_grace_is_over(tmp_path: Path) -> None:
    with StopRequest(tmp_path / "mark", grace_s=0.0) as stop:
        stop.ask("signal")
        time.sleep(0.01)
        assert stop.overdue
        assert heard(stop, Said(), Advance("one"), Advance("two")) is None


def test_work_that_never_began_is_left_at_once(stop: StopRequest) -> None:
    stop.ask("signal")
    assert heard(stop, Said(), None, None) is None


def test_nothing_goes_off_any_more_once_the_job_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.stopping._LAST_RESORT_S", 0.0)
    gone: list[int] = []
    monkeypatch.setattr("training.stopping.os._exit", gone.append)
    with StopRequest(tmp_path / "mark", grace_s=0.0) as stop:
        pass
    stop.at(datetime.now(UTC), last_resort=lambda: None)
    stop._after(0.0, lambda: gone.append(2))
    time.sleep(0.3)
    assert gone == []


def turning(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let every look at the clock find it so much later."""
    clock: Any = iter(range(10_000))
    fake = SimpleNamespace(monotonic=lambda: next(clock) * seconds)
    monkeypatch.setattr(hearing, "time", fake)


def test_work_that_ray_does_not_start_is_waited_for_aloud_and_then_given_up(
    stop: StopRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    turning(monkeypatch, 3.0)
    said = Said()
    with pytest.raises(JobNotStarted, match="lower hardware in the pipeline"):
        heard(stop, said, *[None] * 10)
    assert "Starting collect" in said.stages


def test_work_that_falls_silent_is_taken_for_hung(
    stop: StopRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    turning(monkeypatch, 600.0)
    with pytest.raises(JobCrashed, match="has said nothing for"):
        heard(stop, Said(), Advance("one"), *[None] * 10)
