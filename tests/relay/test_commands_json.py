"""Who asks for JSON gets one value on stdout, whatever becomes of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from control_planes import Relay

from relay.commands.invocation import wants_json

ELSEWHERE = ("--stack", "Elsewhere")
RUN = "r261201-120000-aaaaaa"
NO_STACK = [
    ("pipelines", "apply", "pipeline.yaml"),
    ("pipelines", "list"),
    ("pipelines", "show", "chats"),
    ("pipelines", "resume", "chats"),
    ("validate", "chats.jsonl", "--pipeline", "chats"),
    ("drop", "chats.jsonl", "--pipeline", "chats"),
    ("drop", "chats.jsonl", "--pipeline", "chats", "--wait"),
    ("drops", "--pipeline", "chats"),
    ("runs",),
    ("show", RUN),
    ("watch", RUN),
    ("cancel", RUN),
    ("retry", RUN),
    ("policies", "chats"),
]
WRONG_USAGE = [
    ("demo", "--seed", "many"),
    ("local", "up", "--surprise"),
    ("local", "down", "now"),
    ("pipelines", "apply", "nowhere.yaml"),
    ("validate", "nowhere.jsonl"),
    ("validate",),
    ("drop", "chats.jsonl"),
    ("runs", "--limit", "0"),
    ("surprise",),
]


@pytest.fixture(autouse=True)
def files(relay: Relay) -> None:
    Path("chats.jsonl").write_text('{"prompt": "q", "completion": "a"}\n')
    Path("pipeline.yaml").write_text("name: chats\nrounds: [{optimize: {algorithm: sft}}]\n")


def refused(relay: Relay, command: tuple[str, ...]) -> dict[str, Any]:
    """What a program gets to know of a command that could not do its work."""
    ended = relay(*command, "-o", "json")
    found: dict[str, Any] = ended.json
    assert (found["ok"], found["exit_code"]) == (False, ended.code)
    assert f"{found['reason']}\n" in ended.err
    return found


@pytest.mark.parametrize("command", NO_STACK, ids=" ".join)
def test_no_stack_is_told_in_json(relay: Relay, command: tuple[str, ...]) -> None:
    assert refused(relay, (*command, *ELSEWHERE))["exit_code"] == 3


@pytest.mark.parametrize("command", WRONG_USAGE, ids=" ".join)
def test_wrong_usage_is_told_in_json(relay: Relay, command: tuple[str, ...]) -> None:
    assert refused(relay, command)["exit_code"] == 2


@pytest.mark.parametrize("name", ["empty", "hidden"])
def test_a_folder_that_holds_nothing_is_told_in_json(relay: Relay, name: str) -> None:
    Path(name).mkdir()
    if name == "hidden":
        Path(name, "_draft").write_text("{}")
    assert "holds no file" in refused(relay, ("validate", name))["reason"]


def test_ctrl_c_is_told_in_json(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("relay.console.control_plane.find", interrupted)
    assert refused(relay, ("runs",)) == {"ok": False, "reason": "interrupted", "exit_code": 130}


def test_a_bug_is_told_in_json_and_keeps_its_traceback(
    relay: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("relay.console.control_plane.find", broken)
    with pytest.raises(KeyError):
        relay("runs", "-o", "json")
    assert '"ok": false' in capsys.readouterr().out


def test_no_local_stack_is_an_empty_list(relay: Relay) -> None:
    ended = relay("local", "status", "-o", "json")
    assert (ended.code, ended.json) == (3, [])
    assert "no local stack is up here" in ended.err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["runs", "-o", "json"], True),
        (["runs", "-ojson"], True),
        (["--output=json", "runs"], True),
        (["runs", "--output", "json", "--surprise"], True),
        (["runs", "-o", "table"], False),
        (["validate", "--", "-o", "json"], False),
        (["validate", "json"], False),
    ],
)
def test_json_is_asked_for_in_every_way_that_options_allow(
    arguments: list[str], *, wanted: bool
) -> None:
    assert wants_json(arguments) is wanted
