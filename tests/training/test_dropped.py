"""What a plan's drops hold: sets whole, duplicates once, and nothing disturbed by one bad file."""

import gzip
import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
import zstandard
from job_box import BUCKET, NAME, Box
from sample_pairs import make_pairs, openai_file

from contracts import layout
from contracts.errors import DataUnusable, JobFailed, PermanentError
from contracts.names import drop_id
from contracts.plan import PlannedDrop, PlannedObject
from training.assignment import read_assignment
from training.events import Advance
from training.objects import Objects
from training.phases import drops
from training.phases.dropped import Dropped
from training.phases.drops import problems_shown
from training.reporter import Reporter


def seal(box: Box, folder: str, files: dict[str, bytes]) -> PlannedDrop:
    """Upload a set; the plan will name exactly these versions."""
    objects = []
    for name, body in files.items():
        key = layout.set_folder(NAME, folder) + name
        version = box.client.put_object(Bucket=BUCKET, Key=key, Body=body)["VersionId"]
        objects.append(PlannedObject(key=key, version_id=version, size=len(body)))
    key = layout.seal(NAME, folder)
    version = box.client.put_object(Bucket=BUCKET, Key=key, Body=b"")["VersionId"]
    made = PlannedDrop(
        id=drop_id(BUCKET, key, version),
        key=key,
        version_id=version,
        size=sum(one.size for one in objects),
        accepted_at=datetime.now(UTC),
        objects=tuple(objects),
    )
    box.drops.append(made)
    return made


def shards(count: int, of: int = 60) -> dict[str, bytes]:
    lines = openai_file(make_pairs(of)).splitlines(keepends=True)
    return {f"part-{n}.jsonl": b"".join(lines[n::count]) for n in range(count)}


def test_a_set_is_read_whole_in_the_versions_of_its_plan(box: Box) -> None:
    drop = seal(box, "monday", shards(3))
    for one in drop.objects or ():
        box.client.put_object(Bucket=BUCKET, Key=one.key, Body=b"something else now")
    box.plan()
    result = box.finished("collect")
    assert result.metrics["usable"] == 60
    assert [(it.drop, it.key, it.version_id, it.usable) for it in result.objects] == [
        (drop.id, one.key, one.version_id, 20) for one in drop.objects or ()
    ]


def test_files_and_sets_of_one_run_are_told_apart(box: Box) -> None:
    first = box.drop("alone.jsonl", openai_file(make_pairs(40)))
    second = seal(box, "monday", shards(2, of=20))
    again = seal(box, "monday", {})
    box.plan()
    found = [report.drop for report in box.finished("collect").objects]
    assert found == [first.id, second.id, second.id]
    assert again.id not in found


def test_a_record_in_two_files_of_a_set_counts_once(box: Box) -> None:
    whole = openai_file(make_pairs(40))
    seal(box, "monday", {"a.jsonl": whole, "b.jsonl": whole})
    box.plan()
    metrics = box.finished("collect").metrics
    assert (metrics["usable"], metrics["duplicates"], metrics["distinct_pairs"]) == (80, 40, 40)


def test_an_object_that_is_gone_is_reported_and_the_others_are_learnt_from(box: Box) -> None:
    drop = seal(box, "monday", shards(3))
    gone = (drop.objects or ())[1]
    box.client.delete_object(Bucket=BUCKET, Key=gone.key, VersionId=gone.version_id)
    box.plan()
    result = box.finished("collect")
    assert [report.usable for report in result.objects] == [20, 0, 20]
    (problem,) = result.objects[1].problems
    assert gone.key in problem.problem
    assert "upload the file again" in problem.remedy
    assert result.objects[1].problem_count == 1


def refuse(monkeypatch: pytest.MonkeyPatch, error: PermanentError, *names: str) -> None:
    download: Callable[..., None] = Objects.download

    def refusing(self: Objects, key: str, path: Path, **exact: str) -> None:
        if key.endswith(names):
            raise error
        download(self, key, path, **exact)

    monkeypatch.setattr(Objects, "download", refusing)


def test_an_object_that_may_not_be_read_is_reported_by_its_cause(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(box, "monday", shards(3))
    box.plan()
    refuse(monkeypatch, JobFailed("cannot read it: AccessDenied"), "part-0.jsonl")
    (bad, *others) = box.finished("collect").objects
    assert "AccessDenied" in bad.problems[0].problem
    assert "KMS" in bad.problems[0].remedy
    assert [report.usable for report in others] == [20, 20]


@pytest.mark.parametrize("error", [JobFailed("no right"), DataUnusable("it is gone")])
def test_when_nothing_can_be_read_the_job_says_why_and_every_uploader_is_told(
    box: Box, monkeypatch: pytest.MonkeyPatch, error: PermanentError
) -> None:
    seal(box, "monday", shards(2))
    box.plan()
    refuse(monkeypatch, error, ".jsonl")
    spec = box.job("collect")
    assert box.run(spec) == 1
    result = box.result(spec)
    assert result.failure is not None
    assert (result.failure.error, result.failure.cause) == (type(error).__name__, str(error))
    assert [report.problem_count for report in result.objects] == [1, 1]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("KMS.DisabledException", JobFailed),
        ("AccessDenied", JobFailed),
        ("InvalidObjectState", JobFailed),
        ("NoSuchVersion", DataUnusable),
    ],
)
def test_what_s3_says_of_an_unreadable_object_is_kept(
    tmp_path: Path, code: str, kind: type[PermanentError]
) -> None:
    from botocore.exceptions import ClientError

    class Refusing:
        def get_object(self, **_given: str) -> None:
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, "GetObject")

    with pytest.raises(kind, match="incoming/x"):
        Objects(BUCKET, Refusing()).download("incoming/x", tmp_path / "x", version_id="v")


def test_a_result_of_many_bad_files_shows_fewer_problems_of_each(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drops, "PROBLEMS_PER_RESULT_MAX", 6)
    good = openai_file(make_pairs(40)).splitlines(keepends=True)
    bad = b"".join([*good, b'{"a": 1}\n', b"{broken\n", b"[1]\n", b'"x"\n'])
    seal(box, "monday", {"a.jsonl": bad, "b.jsonl": bad, "c.jsonl": bad})
    box.plan()
    objects = box.finished("collect").objects
    assert [len(report.problems) for report in objects] == [2, 2, 2]
    assert [report.problem_count for report in objects] == [4, 4, 4]


@pytest.mark.parametrize(("objects", "shown"), [(0, 20), (1, 20), (1000, 20), (5000, 4)])
def test_few_objects_show_all_they_may(objects: int, shown: int) -> None:
    assert problems_shown(objects) == shown


def signs_of_life(box: Box, body: bytes) -> list[Mapping[str, float]]:
    drop = box.drop("long.jsonl", body)
    box.plan()
    assignment = read_assignment(Objects(BUCKET, box.client), box.job("collect"))
    path = box.folder / "long"
    path.write_bytes(body)
    dropped = Dropped.of(box.pipeline, box.folder / "scratch")
    said = dropped.read(assignment, {drop.id: path})
    return [event.metrics for event in said if isinstance(event, Advance)]


def test_a_long_reading_gives_signs_of_life(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drops, "SAID_EVERY", 10)
    said = signs_of_life(box, openai_file(make_pairs(35)))
    assert [metrics.get("records") for metrics in said] == [None, 10.0, 20.0, 30.0]


def test_records_that_are_all_bad_are_signs_of_life_as_well(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drops, "SAID_EVERY", 10)
    said = signs_of_life(box, b"{broken\n" * 20 + b'{"a": 1}\n' * 15)
    assert [metrics.get("records") for metrics in said] == [None, 10.0, 20.0, 30.0]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_large_records_are_told_of_by_the_bytes_read_though_they_are_few(
    box: Box, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(drops, "SAID_EVERY_BYTES", 1_000_000)
    noise = Random(0)
    lines = [b'{"a": "%b"}\n' % noise.randbytes(20_000).hex().encode() for _ in range(300)]
    body = pack(b"".join(lines))
    megabytes = [metrics.get("megabytes", 0.0) for metrics in signs_of_life(box, body)]
    assert 3 < len(megabytes) <= 2 + len(body) / 1e6
    assert megabytes == sorted(megabytes)
    assert 0 < megabytes[-1] <= round(len(body) / 1e6, 1)


def test_what_cannot_speak_is_spoken_for_until_it_is_over(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.reporter.REPEAT_S", 0.0)
    spec = box.job("collect")
    reporter = Reporter(spec, Objects(BUCKET, box.client))
    reporter.report(Advance("Fetching"))
    with reporter.repeating(every_s=0.01):
        time.sleep(0.5)
    said = box.progress(spec).sequence
    assert said > 1
    time.sleep(0.1)
    assert box.progress(spec).sequence == said


def test_pairs_that_show_images_are_usable_and_the_run_says_why_it_learns_nothing(
    box: Box,
) -> None:
    shown = [{"type": "image", "path": "a.png"}, {"type": "text", "text": "What is it?"}]
    line = {
        "prompt": [{"role": "user", "content": shown}],
        "chosen": [{"role": "assistant", "content": "A cat."}],
        "rejected": [{"role": "assistant", "content": "A dog."}],
    }
    box.drop("images.jsonl", json.dumps(line).encode())
    box.plan()
    result = box.finished("collect")
    assert (result.outcome, result.metrics["usable"]) == ("no_data", 1)
    assert "in all of 1 usable record" in result.notes[0]
    assert "images" in result.notes[0]
