"""`relay drop FOLDER`: files, then the seal; cut short and gone on with; and what `drops` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from control_planes import Relay, Stack, open_run, register, waiting_drop
from job_objects import BUCKET
from stories import RUN, T0, at

from contracts import layout, ledger
from contracts.ledger import Lease, SetObject, Unsealed
from contracts.names import drop_id
from relay.console import folder_dropping
from relay.console.folder_dropping import FolderDropping

PLACE = "incoming/preferences/day/"
DROP = ("drop", "day", "--pipeline", "preferences")


@pytest.fixture(autouse=True)
def folder(stack: Stack) -> Path:
    """Three files, one of them deeper, and what nobody reads."""
    register(stack)
    made = Path("day")
    (made / "deep").mkdir(parents=True)
    for name in ("b.jsonl", "a.jsonl", "deep/c.jsonl", ".b.jsonl.crc", "_metadata"):
        (made / name).write_text(f'{{"name": "{name}"}}')
    return made


def keys_in_order(stack: Stack) -> list[str]:
    """What was put, in the order of time, the seal's versions too."""
    listed = stack.s3.list_object_versions(Bucket=BUCKET, Prefix=PLACE).get("Versions", [])
    found = sorted(listed, key=lambda item: item["LastModified"])
    return [item["Key"].removeprefix(PLACE) for item in found]


def record(stack: Stack, version: str, *, planned: bool) -> None:
    """Do what the functions would once the seal is heard, and its run planned."""
    key = layout.seal("preferences", "day")
    drop = waiting_drop(
        id=drop_id(BUCKET, key, version), key=key, version_id=version, objects=3, size=99
    )
    assert stack.ledger.drops.record_waiting(drop, folder="day")
    if not planned:
        return
    lease = Lease(pipeline="preferences", run=RUN, acquired_at=T0)
    stack.table.write(stack.table.put(ledger.lease_key("preferences"), ledger.attributes(lease)))
    assert stack.ledger.drops.mark_planned(drop, RUN)
    for item in stack.s3.list_object_versions(Bucket=BUCKET, Prefix=PLACE)["Versions"]:
        if item["IsLatest"] and item["Key"] != key:
            stack.ledger.sets.mark("preferences", "day", file(item["Key"], item["VersionId"]))


def file(key: str, version: str, status: Any = "planned") -> SetObject:
    return SetObject(
        id=drop_id(BUCKET, key, version),
        key=key,
        version_id=version,
        size=9,
        status=status,
        run=RUN if status == "planned" else None,
        accepted_at=T0,
    )


def test_files_are_put_first_and_the_seal_last(relay: Relay, stack: Stack) -> None:
    ended = relay(*DROP, "-o", "json")
    assert ended.code == 0
    assert sorted(keys_in_order(stack)) == ["_SUCCESS", "a.jsonl", "b.jsonl", "deep/c.jsonl"]
    head = stack.s3.head_object(Bucket=BUCKET, Key=PLACE + "_SUCCESS")
    assert ended.json == {
        "id": drop_id(BUCKET, PLACE + "_SUCCESS", head["VersionId"]),
        "pipeline": "preferences",
        "bucket": BUCKET,
        "key": PLACE + "_SUCCESS",
        "version_id": head["VersionId"],
        "files": 3,
        "put": 3,
        "sealed_before": False,
    }
    assert "3 of 3 files were put, then _SUCCESS" in ended.err


def test_what_is_cut_short_says_so_and_the_same_command_goes_on(
    relay: Relay, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = FolderDropping._put_one

    def cut(self: FolderDropping, one: Any) -> None:
        if one.key.endswith("c.jsonl"):
            raise KeyboardInterrupt
        put(self, one)

    with monkeypatch.context() as patched:
        patched.setattr(FolderDropping, "_put_one", cut)
        patched.setattr(folder_dropping, "PUTS_AT_ONCE", 1)
        ended = relay(*DROP)
    assert ended.code == 130
    assert "2 of 3 files of day are in the bucket, without _SUCCESS" in ended.err
    assert "_SUCCESS" not in keys_in_order(stack)
    ended = relay(*DROP, "-o", "json")
    assert (ended.code, ended.json["put"], ended.json["files"]) == (0, 1, 3)
    assert sorted(keys_in_order(stack)) == ["_SUCCESS", "a.jsonl", "b.jsonl", "deep/c.jsonl"]


def test_a_changed_file_is_put_again_and_sealed_again(relay: Relay, stack: Stack) -> None:
    first = relay(*DROP, "-o", "json").json
    record(stack, first["version_id"], planned=True)
    Path("day/a.jsonl").write_text('{"name": "A.jsonl"}')
    again = relay(*DROP, "-o", "json").json
    assert (again["put"], again["sealed_before"]) == (1, False)
    assert again["version_id"] != first["version_id"]


def test_a_folder_that_a_run_has_whole_is_not_put_again_and_wait_finds_that_run(
    relay: Relay, stack: Stack
) -> None:
    first = relay(*DROP, "-o", "json").json
    record(stack, first["version_id"], planned=True)
    open_run(stack, status="PUBLISHED", reason="better", ended_at=at(9))
    assert stack.ledger.drops.note(first["id"], RUN, "1 of 9 records were not usable")
    before = keys_in_order(stack)
    ended = relay(*DROP, "--wait", "-o", "json")
    assert "1 of 9 records were not usable; `relay drops --pipeline preferences`" in ended.err
    assert keys_in_order(stack) == before
    assert (ended.code, ended.json["id"], ended.json["run"]["run"]) == (0, first["id"], RUN)
    assert ended.json["sealed_before"]
    assert "3 files were taken before" in ended.err


def test_what_else_lies_in_the_bucket_is_said(relay: Relay, stack: Stack) -> None:
    stack.s3.put_object(Bucket=BUCKET, Key=PLACE + "z.jsonl", Body=b"{}")
    assert f"1 more in the bucket are part of the set: {PLACE}z.jsonl" in relay(*DROP).err


def test_a_folder_that_would_be_refused_is_not_put(relay: Relay, stack: Stack) -> None:
    Path("empty").mkdir()
    ended = relay("drop", "empty", "--pipeline", "preferences")
    assert (ended.code, "holds no file" in ended.err) == (1, True)
    ended = relay("drop", "day", "--pipeline", "preferences", "--as", "_day")
    assert (ended.code, "name of a set's folder" in ended.err) == (1, True)
    assert keys_in_order(stack) == []


def test_drops_says_which_folders_wait_for_a_seal_and_how_to_go_on(
    relay: Relay, stack: Stack
) -> None:
    waits = file(PLACE + "a.jsonl", "v", "unsealed")
    stack.ledger.sets.record_unsealed("preferences", "day", waits)
    stack.ledger.sets.note_arrival(
        Unsealed(pipeline="preferences", folder="day", arrived_at=T0, seal_limit_s=60)
    )
    (told,) = relay("drops", "--pipeline", "preferences", "-o", "json").json["unsealed"]
    assert (told["folder"], told["files"], told["bytes"]) == (PLACE, 1, 9)
    assert told["reason"] == f"1 file waits in {PLACE} for its _SUCCESS"
    shown = " ".join(relay("drops", "--pipeline", "preferences").out.split())
    assert "without a seal" in shown
    version = stack.s3.put_object(Bucket=BUCKET, Key=PLACE + "_SUCCESS", Body=b"")["VersionId"]
    record(stack, version, planned=False)
    told = relay("drops", "--pipeline", "preferences", "-o", "json").json
    assert told["unsealed"] == []
    assert told["waiting"][0]["objects"] == 3
