"""Every upload becomes a waiting drop and a run, or a report that its uploader can read."""

from __future__ import annotations

import json

import pytest
from fakes import events
from fakes.recipes import pipeline
from fakes.world import World

from contracts import layout
from contracts.rejection import Rejection

GOOD = b'{"messages": []}\n'
_ALL = 1 << 30


def refusal(world: World, place: str, key: str) -> Rejection:
    body = world.objects.get(place, limit=_ALL)
    assert body is not None, f"no report at {place}"
    report = Rejection.from_bytes(body, where=place)
    assert report.key == key
    assert report.refused_by == "intake"
    assert report.remedy
    return report


def test_an_upload_starts_a_run_that_is_named_by_its_execution(world: World) -> None:
    version = world.upload("incoming/tone/a.jsonl", GOOD)
    world.deliver_all()
    (run,) = world.runs("tone")
    assert run.status == "OPEN"
    assert world.executions.inputs == {run.run: "tone"}
    drop = world.drop("incoming/tone/a.jsonl", version)
    assert drop is not None
    assert drop.status == "waiting"
    assert world.counted["UploadAccepted"] == 1


@pytest.mark.parametrize(
    "rest",
    [
        "two words.jsonl",
        "a+b.jsonl",
        "100%.jsonl",
        "%2F.jsonl",
        "%2e%2e.jsonl",
        "über/… no".replace("/", "-"),
        "数据🙂.json",
        "a&b=c;d'e\"f$(g)`h`.jsonl",
        "...jsonl",
        "e\u0301.jsonl",
    ],
)
@pytest.mark.parametrize("slashes", ["plain", "encoded"])
def test_odd_but_legal_keys_are_taken_as_they_are(world: World, rest: str, slashes: str) -> None:
    key = f"incoming/tone/{rest}"
    version = world.upload(key, GOOD)
    ((_, body),) = world.mail
    if slashes == "encoded":  # some senders encode the slash as well
        body = body.replace("incoming/tone/", "incoming%2Ftone%2F")
    assert world.deliver("uploads", body) == []
    drop = world.drop(key, version)
    assert drop is not None
    assert (drop.key, drop.status) == (key, "waiting")


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("../other/a.jsonl", "step"),
        ("..", "step"),
        (".", "step"),
        ("a\nb.jsonl", "control"),
        ("a\x00b.jsonl", "control"),
        ("a\x7fb.jsonl", "control"),
        ("invoice\u202egnp.jsonl", "invisible"),
        ("zero\u200bwidth.jsonl", "invisible"),
        ("_SUCCESS", "seals nothing"),
        ("/a.jsonl", "name of a set's folder"),
        ("_temporary/a.jsonl", "name of a set's folder"),
        (".staging/a.jsonl", "name of a set's folder"),
        ("folder/../a.jsonl", "step"),
        ("folder/a\nb.jsonl", "control"),
        ("folder/", "ends in a slash"),
    ],
)
def test_keys_that_could_mislead_are_refused_with_a_report(
    world: World, rest: str, reason: str
) -> None:
    key = f"incoming/tone/{rest}"
    version = world.upload(key, GOOD)
    world.deliver_all()
    report = refusal(world, layout.rejection("tone", rest, version), key)
    assert reason in report.reason
    drop = world.drop(key, version)
    assert drop is not None
    assert (drop.status, drop.reason) == ("rejected", report.reason)
    assert world.runs("tone") == []
    assert world.counted["UploadRefused"] == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\n", "white space"),
        (b"hello, world\n", "not JSON"),
        (b"chosen,rejected\nyes,no\n", "not JSON"),
        (b"\x7fELF\x02\x00\x00", "NUL"),
        ("[]".encode("utf-16-le"), "NUL"),
        (b"PK\x03\x04....", "zip"),
    ],
)
def test_what_cannot_hold_records_is_refused_with_its_reason(
    world: World, body: bytes, reason: str
) -> None:
    version = world.upload("incoming/tone/a.jsonl", body)
    world.deliver_all()
    report = refusal(world, layout.rejection("tone", "a.jsonl", version), "incoming/tone/a.jsonl")
    assert reason in report.reason
    assert world.executions.states == {}


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1}\n{"b"',
        b'\xef\xbb\xbf{"a": 1}\n',
        b'[{"a": 1}]',
        b'{"a":\n1}',
        GOOD,
        b'{"half": "' + "ü".encode() * 40_000,
        b"[\n" + b'{"a": 1},\n' * 10_000,
        b'{"a": 1',
        b'{"a": "\x00"}',
        b'{\n "a": 1\n}\n{\n "a": 2\n}\n',
        "[]".encode("utf-16"),
        "[]".encode("utf-32"),
        b"\x1f\x8b\x08\x00aaaa",
        b"PAR1....",
        b"\x28\xb5\x2f\xfd....",
    ],
    ids=[
        *("half a last line", "byte order mark", "array", "pretty", "lines", "cut", "long array"),
        *("cut off", "a NUL within", "objects over lines", "UTF-16", "UTF-32"),
        *("gzip", "parquet", "zstandard"),
    ],
)
def test_what_may_hold_records_is_left_to_collect(world: World, body: bytes) -> None:
    version = world.upload("incoming/tone/a.jsonl", body)
    world.deliver_all()
    drop = world.drop("incoming/tone/a.jsonl", version)
    assert drop is not None
    assert drop.status == "waiting"


def test_an_unknown_pipeline_is_refused_with_what_to_do(world: World) -> None:
    version = world.upload("incoming/nobody/a.jsonl", GOOD)
    world.deliver_all()
    report = refusal(
        world, layout.rejection("nobody", "a.jsonl", version), "incoming/nobody/a.jsonl"
    )
    assert "no pipeline 'nobody'" in report.reason
    assert "relay pipelines apply" in report.remedy


@pytest.mark.parametrize("name", ["Tone", "a_b", "-a", "a-", "a" * 41, "…", "a b", "_", "9a"])
def test_what_cannot_name_a_pipeline_is_refused(world: World, name: str) -> None:
    key = f"incoming/{name}/a.jsonl"
    version = world.upload(key, GOOD)
    world.deliver_all()
    report = refusal(world, layout.rejection(name, "a.jsonl", version), key)
    assert "cannot be a pipeline's name" in report.reason


def test_keys_that_name_no_pipeline_have_reports_of_their_own(world: World) -> None:
    keys = ["incoming/a.jsonl", "incoming//a.jsonl", "incoming/_/a.jsonl"]
    versions = {key: world.upload(key, GOOD) for key in keys}
    world.deliver_all()
    places = [key for key in world.objects.versions if key.startswith(layout.REJECTED)]
    assert len(places) == len(keys)
    for key, version in versions.items():
        drop = world.drop(key, version)
        assert drop is not None
        assert drop.status == "rejected"


def test_a_file_over_the_pipelines_limit_is_refused(world: World) -> None:
    small = pipeline("small")
    world.register(
        small.model_copy(update={"data": small.data.model_copy(update={"max_object_bytes": 10})})
    )
    version = world.upload("incoming/small/a.jsonl", GOOD)
    world.deliver_all()
    place = layout.rejection("small", "a.jsonl", version)
    assert (
        "17 bytes, the pipeline takes 10" in refusal(world, place, "incoming/small/a.jsonl").reason
    )


def test_a_version_that_is_gone_is_refused(world: World) -> None:
    body = events.created(world.objects.bucket, "incoming/tone/a.jsonl", "gone", 5)
    assert world.deliver("uploads", body) == []
    place = layout.rejection("tone", "a.jsonl", "gone")
    assert "deleted" in refusal(world, place, "incoming/tone/a.jsonl").reason


@pytest.mark.parametrize("key", ["incoming/tone/", "incoming/", "incoming/tone/sub/"])
def test_a_folder_marker_is_ignored_and_counted(world: World, key: str) -> None:
    world.upload(key, b"")
    world.deliver_all()
    assert world.mail == []
    assert world.counted == {"UploadIgnored": 1}
    assert not [key for key in world.objects.versions if key.startswith(layout.REJECTED)]
    assert world.table.items == {}


def test_an_object_of_another_bucket_is_ignored_and_counted(world: World) -> None:
    world.objects.add("incoming/tone/a.jsonl", GOOD)
    body = events.created("somebody-elses", "incoming/tone/a.jsonl", "v000002", 5)
    assert world.deliver("uploads", body) == []
    assert world.counted == {"UploadIgnored": 1}
    assert world.table.items == {}


def test_the_test_event_of_s3_is_taken_and_changes_nothing(world: World) -> None:
    assert world.deliver("uploads", events.test_event(world.objects.bucket)) == []
    assert world.table.items == {}


BAD_BODIES = [
    "no json",
    "",
    "[]",
    "null",
    "{}",
    '{"Records": []}',
    '{"Records": {}}',
    '{"Records": [{}]}',
    '{"Records": [null]}',
    '{"Records": [{"s3": {"bucket": {"name": "b"}, "object": {}}}]}',
    '{"Records": [{"s3": {"bucket": {"name": "b"}, "object": {"key": 5, "size": 1}}}]}',
    '{"Records": [{"s3": {"bucket": {"name": "b"}, "object": {"key": "k", "size": "x"}}}]}',
    "[" * 100_000,
    '{"Event": "s3:ObjectRemoved"}',
    '{"Records": [{"s3": {"bucket": {"name": "relay-tests"},'
    ' "object": {"key": "elsewhere/k", "size": 1}}}]}',
]


@pytest.mark.parametrize("bad", BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_a_bad_message_fails_alone_and_its_batch_mates_succeed(world: World, bad: str) -> None:
    for number in range(9):
        world.upload(f"incoming/tone/{number}.jsonl", GOOD)
    bodies = [body for _, body in world.mail]
    bodies.insert(4, bad)
    assert world.deliver("uploads", *bodies) == ["m4"]
    assert len(world.ledger.drops.waiting("tone", limit=100)) == 9
    assert len(world.runs("tone")) == 1


def test_a_message_of_several_records_takes_each(world: World) -> None:
    records = []
    for number in range(3):
        key = f"incoming/tone/{number}.jsonl"
        version = world.upload(key, GOOD)
        records.append(events.object_created(world.objects.bucket, key, version, len(GOOD)))
    assert world.deliver("uploads", events.notification(*records)) == []
    assert len(world.ledger.drops.waiting("tone", limit=100)) == 3


def test_an_unversioned_event_counts_as_the_null_version(world: World) -> None:
    record = events.object_created(world.objects.bucket, "incoming/tone/a.jsonl", "x", 5)
    del record["s3"]["object"]["versionId"]
    assert world.deliver("uploads", events.notification(record)) == []
    assert world.drop("incoming/tone/a.jsonl", "null") is not None


def test_a_delivery_twice_in_one_message_or_two_is_one_drop_and_one_run(world: World) -> None:
    world.upload("incoming/tone/a.jsonl", GOOD)
    ((_, body),) = world.mail
    records = json.loads(body)["Records"]
    assert world.deliver("uploads", body, body, events.notification(*records, *records)) == []
    assert len(world.ledger.drops.waiting("tone", limit=100)) == 1
    assert len(world.executions.inputs) == 1
    assert (world.counted["UploadAccepted"], world.counted["UploadKnown"]) == (1, 3)


def test_a_new_version_of_a_key_is_a_new_drop(world: World) -> None:
    world.upload("incoming/tone/a.jsonl", GOOD)
    world.upload("incoming/tone/a.jsonl", GOOD)
    world.deliver_all()
    assert len(world.ledger.drops.waiting("tone", limit=100)) == 2


def test_a_refused_version_stays_refused_though_its_pipeline_comes_to_be(world: World) -> None:
    version = world.upload("incoming/later/a.jsonl", GOOD)
    world.deliver_all()
    world.register(pipeline("later"))
    assert world.hand_over(*world.told[0])
    drop = world.drop("incoming/later/a.jsonl", version)
    assert drop is not None
    assert drop.status == "rejected"
    assert world.runs("later") == []


@pytest.mark.parametrize("crash_at", [1, 2])
def test_sweep_knows_of_a_pipeline_before_anything_waits_for_it(
    world: World, crash_at: int
) -> None:
    """A crash right after the drop was recorded must not leave a pipeline unseen."""
    world.upload("incoming/tone/a.jsonl", GOOD)
    world.faults.arm(crash_at, "after")
    world.deliver_all()
    assert world.faults.crashed
    waiting = world.ledger.drops.waiting("tone", limit=9)
    assert len(waiting) == crash_at - 1
    world.mail = []
    world.sweep()
    assert [run.status for run in world.runs("tone")] == ["OPEN"] * len(waiting)


def test_a_burst_that_waits_when_its_run_is_planned_is_in_one_run(world: World) -> None:
    for number in range(200):
        world.upload(f"incoming/tone/{number}.jsonl", GOOD)
    world.deliver_all()
    (run,) = world.runs("tone")
    world.graph.step(run.run)
    assert world.runs("tone")[0].drops == 200
    assert world.ledger.drops.waiting("tone", limit=9) == []
