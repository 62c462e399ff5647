"""From a PUT to the end of its run, through the deployed control plane, roles enforced."""

from __future__ import annotations

import json
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from botocore.exceptions import ClientError
from deployed import Line, until

from contracts import layout
from contracts.names import drop_id
from contracts.policy import PolicyVersion
from contracts.rejection import Rejection

pytestmark = [pytest.mark.line, pytest.mark.emulator]


def test_a_dropped_file_becomes_the_current_policy(line: Line):
    line.register("whole")
    with line.stand_in():
        version_id = line.put("incoming/whole/pairs of today+100%é.jsonl")
        (run,) = line.ended("whole")
    assert run.status == "PUBLISHED"
    assert run.version == 1
    drop = line.ledger.drops.get(
        drop_id(line.bucket, "incoming/whole/pairs of today+100%é.jsonl", version_id)
    )
    assert drop is not None
    assert drop.run == run.run
    current = PolicyVersion.from_bytes(
        line.read(layout.current_policy("whole")), where="current.json"
    )
    assert (current.version, current.parent, current.run) == (1, 0, run.run)
    assert line.ledger.policies.get("whole", 0) is not None


def test_the_state_that_an_execution_carries_is_small(line: Line):
    line.register("small")
    with line.stand_in():
        line.put("incoming/small/pairs.jsonl")
        (run,) = line.ended("small")
    answer = line.client("stepfunctions").describe_execution(executionArn=line.execution(run.run))
    assert json.loads(answer["input"]) == {"pipeline": "small", "run": run.run}
    assert len(answer["output"]) < 3_000


def test_a_run_starts_within_a_second_of_its_drop(line: Line):
    names = [line.register(f"idle-{number}") for number in range(50)]
    waited = []
    with line.stand_in(outcome=lambda _spec: "no_data"):
        for name in names:
            put_at = time.time()
            line.put(f"incoming/{name}/pairs.jsonl")
            (run,) = until(partial(line.runs, name), 60, every_s=0.05)
            waited.append(started_at(line, run.run) - put_at)
        for name in names:
            line.ended(name, within_s=120)
    print(f"PUT to StartExecution: median {statistics.median(waited):.3f} s, max {max(waited):.3f}")
    assert statistics.median(waited) < 1


def started_at(line: Line, run: str) -> float:
    describe = line.client("stepfunctions").describe_execution
    arn = line.execution(run)
    answer = until(partial(answer_or_none, describe, executionArn=arn), 30)
    return float(answer["startDate"].timestamp())


def answer_or_none(call, **fields):
    try:
        return call(**fields)
    except ClientError:
        return None


def test_a_burst_of_a_thousand_makes_at_most_two_runs(line: Line):
    line.register("burst")
    keys = [f"incoming/burst/{number:04d}.jsonl" for number in range(1000)]
    taken_in = threading.Event()
    with line.stand_in(may_end=taken_in.is_set):
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            versions = dict(zip(keys, pool.map(line.put, keys), strict=True))
        until(lambda: not line.messages_left("UploadsQueueUrl"), 240)
        print(f"a thousand drops taken in after {time.monotonic() - began:.0f} s")
        taken_in.set()
        line.ended("burst", within_s=240)
        until(lambda: not line.ledger.drops.any_waiting("burst"), 120)
        runs = line.ended("burst", len(line.runs("burst")), within_s=240)
    assert len(runs) <= 2
    planned = [key for run in runs for key in planned_keys(line, run.run)]
    assert sorted(planned) == keys
    for key, version_id in versions.items():
        drop = line.ledger.drops.get(drop_id(line.bucket, key, version_id))
        assert drop is not None
        assert drop.run in {run.run for run in runs}
    assert line.messages_left("UploadsDeadLetterQueueUrl") == 0
    assert line.messages_left("ReportsDeadLetterQueueUrl") == 0


def planned_keys(line: Line, run: str) -> list[str]:
    return [drop["key"] for drop in json.loads(line.read(layout.plan(run)))["drops"]]


def test_a_runs_history_does_not_grow_with_its_length(line: Line):
    lengths = {"short-job": 3.0, "long-job": 15.0}
    for name in lengths:
        line.register(name)
    with line.stand_in(seconds=lambda spec: lengths[spec.pipeline]):
        for name in lengths:
            line.put(f"incoming/{name}/pairs.jsonl")
        runs = {name: line.ended(name, within_s=240)[0] for name in lengths}
    history = line.client("stepfunctions").get_execution_history
    counts = {
        name: len(history(executionArn=line.execution(run.run), maxResults=1000)["events"])
        for name, run in runs.items()
    }
    assert counts["short-job"] == counts["long-job"]


def test_a_cancelled_run_gets_its_job_stopped_and_the_next_run_starts(line: Line):
    line.register("cancelled")
    with line.stand_in(seconds=lambda _spec: 30.0):
        line.put("incoming/cancelled/first.jsonl")
        run = until(lambda: line.runs("cancelled"), 20)[0].run
        until(lambda: [a for a in line.attempts(run) if a.status == "RUNNING"], 30)
        line.put("incoming/cancelled/second.jsonl")
        line.client("stepfunctions").stop_execution(
            executionArn=line.execution(run), error="Operator", cause="not this one"
        )
        stopped = time.monotonic()
        until(lambda: stop_mark(line, run), 60)
        print(f"stopped after {time.monotonic() - stopped:.1f} s")
        until(lambda: len(line.runs("cancelled")) == 2, 60)
    ended = line.ledger.runs.get(run)
    assert ended is not None
    assert (ended.status, ended.reason) == ("CANCELLED", "Operator: not this one")


def stop_mark(line: Line, run: str) -> bool:
    prefix = f"runs/{run}/"
    listed = line.client("s3").list_objects_v2(Bucket=line.bucket, Prefix=prefix)
    return any(item["Key"].endswith("/stop.json") for item in listed.get("Contents", []))


REFUSED = {
    "incoming/refusing/empty.jsonl": (b"", "the file is empty"),
    "incoming/refusing/prose.json": (b"once upon a time", "not JSON"),
    "incoming/refusing/_SUCCESS": (b"", "where it seals nothing"),
    "incoming/refusing/a/../b.jsonl": (PAIR := b'{"a": 1}\n', "`.` or `..` step"),
    "incoming/refusing/bell\x07.jsonl": (PAIR, "control or invisible"),
    "incoming/nobody/pairs.jsonl": (PAIR, "there is no pipeline"),
    "incoming/Not A Name/pairs.jsonl": (PAIR, "cannot be a pipeline's name"),
    "incoming/stray.jsonl": (PAIR, "names no pipeline"),
}


def test_what_cannot_be_a_drop_is_refused_in_writing_and_starts_no_run(line: Line):
    line.register("refusing")
    line.client("s3").put_object(Bucket=line.bucket, Key="incoming/refusing/folder/", Body=b"")
    put = {key: line.put(key, body) for key, (body, _) in REFUSED.items()}
    for key, version_id in put.items():
        first, _, rest = key.removeprefix("incoming/").partition("/")
        place = layout.rejection(first if rest else "", rest or first, version_id)
        body = until(partial(read_if_there, line, place), 30)
        report = Rejection.from_bytes(body, where=place)
        assert REFUSED[key][1] in report.reason
        assert report.remedy
        assert report.key == key
    assert line.runs("refusing") == []
    assert line.messages_left("UploadsDeadLetterQueueUrl") == 0


def read_if_there(line: Line, key: str) -> bytes | None:
    try:
        return line.read(key)
    except line.client("s3").exceptions.NoSuchKey:
        return None
