"""`relay local down` says what becomes of open runs, and whether there was a stack at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from control_planes import CloudFormation, Relay, Stack, open_run
from stories import RUN, T0

from contracts import ledger
from contracts.ledger import Lease
from relay.console import open_runs
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of
from relay.local.processes import Processes

ANSWERS = open_runs._answers


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Processes:
    """A local stack whose embedded AWS is the test's own."""
    monkeypatch.setattr("relay.console.control_plane.adopt", lambda _root: None)
    monkeypatch.setattr("relay.console.open_runs._answers", lambda _places: True)
    places = LocalPlaces(tmp_path / ".relay" / "local")
    places.make()
    ports_of(places)
    processes = Processes(places)
    processes.start("emulator", ["sleep", "600"], {"PATH": "/usr/bin:/bin"})
    return processes


def test_open_runs_are_named_and_go_on_at_the_next_up(
    relay: Relay, stack: Stack, up: Processes
) -> None:
    open_run(stack)
    lease = Lease(pipeline="preferences", run=RUN, acquired_at=T0)
    stack.table.write(
        stack.table.put(ledger.lease_key("preferences"), ledger.attributes(lease)),
    )
    ended = relay("local", "down")
    assert ended.code == 0
    assert f"run {RUN} of preferences is open" in ended.err
    assert "`relay local up` goes on" in ended.err
    assert not up.alive("emulator")


def test_without_an_open_run_nothing_is_said_of_any(
    relay: Relay, stack: Stack, up: Processes
) -> None:
    open_run(stack, status="PUBLISHED")
    ended = relay("local", "down")
    assert "is open" not in ended.err
    assert "The local stack is down" in ended.out


def test_a_stack_that_answers_no_longer_still_goes_down(
    relay: Relay, cloudformation: CloudFormation, up: Processes
) -> None:
    cloudformation.stacks.clear()
    assert relay("local", "down").code == 0
    assert not up.alive("emulator")


def test_a_stack_whose_ports_are_not_known_any_more_still_goes_down(
    relay: Relay, up: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_runs, "_answers", ANSWERS)
    up.places.ports.write_text("{")
    ended = relay("local", "down")
    assert (ended.code, up.alive("emulator")) == (0, False)
    assert "The local stack is down" in ended.out


def test_down_where_nothing_is_up_does_not_speak_of_a_stack(relay: Relay, tmp_path: Path) -> None:
    ended = relay("local", "down")
    assert (ended.code, ended.out) == (0, f"No local stack was up in {tmp_path}/.relay/local.\n")
