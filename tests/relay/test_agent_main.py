"""The agent as a process: alone in its folder, through outages, until it is told to leave."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from threading import Event

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from relay.agent import __main__ as agent_main
from relay.agent.in_flight import InFlight
from relay.agent.settings import Settings, read
from relay.console.errors import NotFound


class Scripted:
    """A connected agent whose turns are a script; after the last it gets SIGTERM."""

    def __init__(self, script: list[Exception | None]) -> None:
        self.script, self.left, self.renewed = script, 0, 0
        self.agent = self.credentials = self
        self.leaving = Event()

    def renew(self, _now: datetime) -> None:
        self.renewed += 1

    def turn(self) -> None:
        step = self.script.pop(0) if self.script else None
        if not self.script:
            os.kill(os.getpid(), signal.SIGTERM)
        if step is not None:
            raise step

    def leave(self) -> None:
        self.left += 1


Run = Callable[[list[Exception | None]], tuple[int, Scripted, int]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the agent over a script; its exit code, itself, and how often it connected."""
    monkeypatch.setattr(agent_main, "_PAUSE_S", 0.01)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def make(script: list[Exception | None]) -> tuple[int, Scripted, int]:
        scripted, connections = Scripted(script), []

        def connect(settings: Settings, in_flight: InFlight) -> Scripted:
            connections.append(in_flight.agent)
            if isinstance(script[0], NotFound):
                raise script.pop(0)
            return scripted

        monkeypatch.setattr(agent_main, "connect", connect)
        try:
            code = agent_main.main([f"--state={tmp_path}", "--ray=http://127.0.0.1:1"])
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return code, scripted, len(connections)

    return make


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "Any")


def test_it_works_until_it_is_told_to_leave_and_then_sees_to_its_jobs(run: Run) -> None:
    code, agent, connections = run([None, None, None])
    assert (code, agent.left, agent.renewed, connections) == (0, 1, 3, 1)


def test_an_outage_is_waited_out_with_the_same_connection(run: Run) -> None:
    away = EndpointConnectionError(endpoint_url="https://any")
    _, agent, connections = run([away, refused("InternalError"), None])
    assert (agent.left, agent.renewed, connections) == (1, 3, 1)


@pytest.mark.parametrize("code", ["InvalidAccessKeyId", "ExpiredToken", "InvalidClientTokenId"])
def test_credentials_that_are_refused_are_made_anew(run: Run, code: str) -> None:
    _, _, connections = run([refused(code), None])
    assert connections == 2


def test_a_stack_that_is_not_there_yet_is_waited_for(run: Run) -> None:
    _, agent, connections = run([NotFound("no stack"), None])
    assert (agent.left, connections) == (1, 2)


def test_a_mistake_in_the_agent_itself_is_not_hidden(run: Run) -> None:
    with pytest.raises(KeyError):
        run([KeyError("a bug"), None])


def test_a_second_agent_in_the_same_folder_is_a_conflict(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, agent, connections = run([None])
    assert (code, agent.left, connections) == (4, 0, 0)


def test_a_damaged_file_of_jobs_in_flight_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in-flight.json").write_text("{")
    code, agent, connections = run([None])
    assert (code, agent.left, connections) == (1, 0, 0)
    assert (tmp_path / "in-flight.json").read_text() == "{"


def test_there_is_room_for_two_jobs_at_least() -> None:
    settings = read(["--state=s", "--ray=http://127.0.0.1:1"])
    assert settings.at_once >= 2
    assert (settings.checkout / "contracts").is_dir()


def test_a_wrong_command_line_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(["--ray=http://127.0.0.1:1"])
    assert ended.value.code == 2
    assert "--state" in capsys.readouterr().err
