"""What comes from data is text, even if it looks like markup."""

from __future__ import annotations

from pathlib import Path

import pytest
from control_planes import Relay, Stack, open_run, publish, register, rejection, waiting_drop
from job_objects import BUCKET
from stories import RUN, at, attempt

from contracts import layout, ledger
from contracts.ledger import AttemptRecord
from contracts.result import Problem
from relay.commands.voice import draw
from relay.local.stack import ProcessStatus

SAID = "[/b] [red]x :smile:"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")


def test_a_string_is_drawn_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    draw(SAID)
    assert capsys.readouterr().out == f"{SAID}\n"


def test_of_pipelines(relay: Relay, stack: Stack) -> None:
    made = register(stack).model_copy(update={"description": SAID})
    key = layout.pipeline("preferences")
    stack.s3.put_object(Bucket=BUCKET, Key=key, Body=made.to_bytes())
    assert SAID in relay("pipelines", "list").out
    assert SAID in relay("pipelines", "show", "preferences").out
    Path("other.yaml").write_text(
        "name: preferences\ndescription: '[/i]'\nrounds: [{optimize: {algorithm: dpo}}]\n"
    )
    told = relay("pipelines", "apply", "other.yaml").out
    assert SAID in told
    assert "[/i]" in told


def test_of_drops(relay: Relay, stack: Stack) -> None:
    register(stack)
    stack.ledger.drops.record_waiting(waiting_drop(key=f"incoming/preferences/{SAID}"))
    problem = Problem(line=3, field=f"f{SAID}", problem=f"p{SAID}", remedy=f"r{SAID}")
    report = rejection(key=f"k{SAID}", reason=SAID, problems=(problem,), problem_count=1)
    place = layout.rejection("preferences", "x", "v")
    stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
    told = relay("drops", "--pipeline", "preferences").out
    assert f"incoming/preferences/{SAID}" in told
    assert f"k{SAID}" in told
    Path("[red]x").write_text("{}")
    dropped = relay("drop", "[red]x", "--as", "[b]x[i]", "--pipeline", "preferences")
    assert "preferences/[b]x[i]" in dropped.out
    assert "[red]x" in relay("validate", "[red]x").out


def test_of_runs(relay: Relay, stack: Stack) -> None:
    open_run(stack, status="FAILED", reason=SAID, ended_at=at(9))
    made: AttemptRecord = attempt("optimize", status="FAILED", error="JobFailed", cause=SAID)
    key = ledger.attempt_item_key(RUN, 1, "optimize", 1)
    stack.table.write(stack.table.put(key, ledger.attributes(made)))
    assert SAID in relay("show", RUN).out


def test_of_places(relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(stack, {"config.json": b"{}"})
    fetched = relay("policies", "preferences", "--download", "0", "[red]x[/b]")
    assert "is in [red]x[/b] (" in fetched.out
    one = ProcessStatus("agent", None, None, Path("/[red]/[/b]/agent.log"))
    monkeypatch.setattr("relay.local.stack.status", lambda _places: [one])
    told = relay("local", "status").out
    assert "/[red]/[/b]/agent.log" in told
    assert "ended" in told
