"""`relay drop` and `relay drops`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from control_planes import Relay, Stack, open_run, pause, register, rejection, waiting_drop
from job_objects import BUCKET
from stories import RUN, T0, at

from contracts import layout, ledger
from contracts.ledger import Lease
from contracts.names import drop_id
from contracts.result import Problem
from relay.console.control_plane import ControlPlane

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences"


@pytest.fixture(autouse=True)
def registered(stack: Stack) -> None:
    register(stack)


@pytest.mark.parametrize(("name", "code"), [("nobody", 3), ("No/Name", 2), ("", 2)])
def test_nothing_is_put_where_no_pipeline_takes_it(
    relay: Relay, stack: Stack, name: str, code: int
) -> None:
    Path("x").write_text("{}")
    assert relay("drop", "x", "--pipeline", name).code == code
    assert "Contents" not in stack.s3.list_objects_v2(Bucket=BUCKET, Prefix="incoming/")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("relay.console.control_plane.find", "interrupted; nothing was put\n"),
        ("relay.console.dropping.put", "whether x was put is not known"),
    ],
)
def test_ctrl_c_before_anything_is_followed_says_what_was_put(
    relay: Relay, monkeypatch: pytest.MonkeyPatch, place: str, words: str
) -> None:
    def press(*_given: object) -> None:
        raise KeyboardInterrupt

    Path("x").write_text("{}")
    monkeypatch.setattr(place, press)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait")
    assert ended.code == 130
    assert words in ended.err
    monkeypatch.setattr("relay.console.control_plane.find", press)
    ended = relay("runs")
    assert (ended.code, ended.err) == (130, "interrupted\n")


def test_a_refusal_named_by_digest_is_listed_with_its_pipelines(relay: Relay, stack: Stack) -> None:
    long = "x" * 990
    for pipeline in ("preferences", "other"):
        report = rejection(key=f"incoming/{pipeline}/{long}")
        place = layout.rejection(pipeline, long, "v" * 40)
        assert layout.BY_DIGEST in place
        stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
    found = relay("drops", "--pipeline", "preferences", "-o", "json").json["rejected"]
    assert [one["key"] for one in found] == [f"incoming/preferences/{long}"]


def test_only_the_newest_reports_are_read(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        name = f"{number:02d}" + "x" * (990 if number % 2 else 0)
        report = rejection(key=f"incoming/preferences/{name}")
        place = layout.rejection("preferences", name, "v" * 40)
        stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
    read: list[str] = []
    get = ControlPlane.get

    def counted(plane: ControlPlane, key: str, limit: int = 1 << 20) -> bytes | None:
        read.append(key)
        return get(plane, key, limit)

    monkeypatch.setattr(ControlPlane, "get", counted)
    told = relay("drops", "--pipeline", "preferences", "--limit", "3", "-o", "json").json
    assert len(told["rejected"]) == 3
    assert len(read) == 3


def test_a_drop_is_a_plain_object_below_incoming(relay: Relay, stack: Stack) -> None:
    Path("pairs 1+2.jsonl").write_text("{}")
    ended = relay("drop", "pairs 1+2.jsonl", "--pipeline", "preferences", "-o", "json")
    assert ended.code == 0
    key = "incoming/preferences/pairs 1+2.jsonl"
    there = stack.s3.get_object(Bucket=BUCKET, Key=key)
    assert there["Body"].read() == b"{}"
    assert ended.json == {
        "id": drop_id(BUCKET, key, there["VersionId"]),
        "pipeline": "preferences",
        "bucket": BUCKET,
        "key": key,
        "version_id": there["VersionId"],
    }


def test_a_drop_may_have_another_name_and_a_missing_file_is_wrong_usage(relay: Relay) -> None:
    Path("x").write_text("{}")
    ended = relay("drop", "x", "--pipeline", "preferences", "--as", "z", "-o", "json")
    assert ended.json["key"] == "incoming/preferences/z"
    assert relay("drop", "nothing", "--pipeline", "preferences").code == 2
    ended = relay("drop", "x", "--pipeline", "preferences", "--as", "y/z")
    assert ended.code == 2
    assert "drop the folder itself" in " ".join(ended.err.replace("│", " ").split())


def on_put(stack: Stack, monkeypatch: pytest.MonkeyPatch, then: Callable[[str], None]) -> None:
    """Do what the functions would, as soon as a file is put; `then` gets its drop id."""
    from relay.console import dropping

    put = dropping.put

    def put_and_react(plane: Any, file: Path, pipeline: str, name: str) -> dropping.Dropped:
        dropped = put(plane, file, pipeline, name)
        then(dropped.version_id)
        return dropped

    monkeypatch.setattr(dropping, "put", put_and_react)


def test_waiting_for_a_refused_drop_shows_the_report_and_ends_with_1(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(version: str) -> None:
        key = "incoming/preferences/x"
        report = rejection(version_id=version)
        place = layout.rejection("preferences", "x", version)
        stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
        stack.ledger.drops.record_rejected(
            waiting_drop(id=drop_id(BUCKET, key, version), version_id=version, status="rejected")
        )

    Path("x").write_text("not json")
    on_put(stack, monkeypatch, refuse)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait", "-o", "json")
    assert ended.code == 1
    assert ended.json["outcome"] == "REJECTED"
    assert ended.json["rejection"]["reason"] == "it is not JSON"
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait")
    assert "refused by intake: it is not JSON" in ended.out
    assert "upload JSON" in ended.out


@pytest.mark.parametrize(
    ("status", "code"), [("PUBLISHED", 0), ("KEPT", 0), ("FAILED", 1), ("NO_DATA", 1)]
)
def test_waiting_for_a_drop_ends_as_its_run_does(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch, status: str, code: int
) -> None:
    def run(version: str) -> None:
        key = "incoming/preferences/x"
        drop = waiting_drop(id=drop_id(BUCKET, key, version), version_id=version)
        stack.ledger.drops.record_waiting(drop)
        assert stack.ledger.drops.mark_planned(drop, RUN)

    ended_run = open_run(stack, status=status, reason="as it went", ended_at=at(9))
    lease = Lease(pipeline="preferences", run=ended_run.run, acquired_at=T0)
    stack.table.write(stack.table.put(ledger.lease_key("preferences"), ledger.attributes(lease)))
    Path("x").write_text("{}")
    on_put(stack, monkeypatch, run)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait", "-o", "json")
    assert (ended.code, ended.json["outcome"]) == (code, status)
    assert ended.json["run"]["run"] == RUN
    assert f"{status}: as it went" in ended.err


def test_waiting_at_a_paused_pipeline_says_how_to_go_on(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def accept(version: str) -> None:
        drop = drop_id(BUCKET, "incoming/preferences/x", version)
        stack.ledger.drops.record_waiting(waiting_drop(id=drop, version_id=version))

    pause(stack)
    Path("x").write_text("{}")
    on_put(stack, monkeypatch, accept)
    ended = relay("drop", "x", "--pipeline", "preferences", "--wait")
    assert ended.code == 4
    assert "relay pipelines resume preferences" in ended.err


def test_drops_lists_what_waits_and_what_was_refused(relay: Relay, stack: Stack) -> None:
    stack.ledger.drops.record_waiting(waiting_drop())
    problem = Problem(line=3, field="chosen", problem="is missing", remedy="add it")
    report = rejection(refused_by="collect", problems=(problem,), problem_count=1)
    place = layout.rejection("preferences", "x", "v")
    stack.s3.put_object(Bucket=BUCKET, Key=place, Body=report.to_bytes())
    found = relay("drops", "--pipeline", "preferences", "-o", "json").json
    assert [one["id"] for one in found["waiting"]] == ["d" * 32]
    assert found["rejected"][0]["problems"][0]["line"] == 3
    words = " ".join(relay("drops", "--pipeline", "preferences").out.split())
    assert all(part in words for part in ("it is not", "line 3,", "is missing", "add it"))
