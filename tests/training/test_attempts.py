"""One attempt: signs of life, last words, and what a second word does."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from job_box import BUCKET, RUN, Box, recipe

from contracts import layout
from contracts.errors import JobFailed, RelayError, ServiceUnavailable, names_below
from contracts.job import Stop
from contracts.limits import CAUSE_MAX
from training import __main__ as entry
from training.assignment import Assignment
from training.cluster import ThisProcess
from training.events import Advance, Done, Event, Inspected, Materials
from training.last_words import failure_of
from training.objects import Objects
from training.phases.registry import PHASES, Steps
from training.reporter import REPEAT_S, Reporter


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


def test_our_errors_keep_their_names_and_others_are_a_crash_that_says_where() -> None:
    ours = failure_of(raised(JobFailed("two\nlines")))
    assert (ours.error, ours.cause) == ("JobFailed", "two lines")
    theirs = failure_of(raised(KeyError("weights")))
    assert theirs.error == "JobCrashed"
    assert theirs.cause.startswith("KeyError at ")
    assert "test_attempts.py" in theirs.cause
    assert theirs.error in names_below(RelayError)


def test_a_cause_is_never_longer_than_its_limit() -> None:
    assert len(failure_of(raised(JobFailed("x" * 5_000))).cause) == CAUSE_MAX


def test_the_first_sign_of_life_is_written_before_the_plan_is_read(box: Box) -> None:
    spec = box.job("collect")
    assert box.run(spec) == 1
    progress = box.progress(spec)
    assert (progress.sequence, progress.stage, progress.nonce) == (1, "Starting collect", "n" * 16)
    failure = box.result(spec).failure
    assert failure is not None
    assert layout.plan(spec.run) in failure.cause


class Clock:
    """A clock that is turned by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_progress_is_throttled_grows_by_one_and_the_newest_word_wins(box: Box) -> None:
    clock = Clock()
    spec = box.job("optimize", progress_interval_s=10)
    reporter = Reporter(spec, Objects(BUCKET, box.client), clock)
    for step in range(1, 30):
        reporter.report(Advance("Training", step, 100))
        clock.now += 0.5
    assert (box.progress(spec).sequence, box.progress(spec).step) == (2, 21)
    clock.now += 10
    reporter.tick()
    assert (box.progress(spec).sequence, box.progress(spec).step) == (3, 29)
    reporter.tick()
    assert box.progress(spec).sequence == 3
    clock.now += REPEAT_S
    reporter.tick()
    assert (box.progress(spec).sequence, box.progress(spec).step) == (4, 29)


def test_a_sign_of_life_that_cannot_be_written_stops_nothing(box: Box) -> None:
    clock = Clock()
    spec = box.job("optimize", progress_interval_s=1)
    reporter = Reporter(spec, Objects("no-such-bucket", box.client), clock)
    reporter.report(Advance("Training", 1, 2))
    clock.now += 2
    reporter.report(Advance("Training", 2, 2))
    assert reporter._sequence == 2


def test_a_result_that_exists_is_never_written_over(dropped: Box) -> None:
    spec = dropped.job("collect")
    key = layout.result(spec.key)
    dropped.client.put_object(Bucket=BUCKET, Key=key, Body=b"the agent's word")
    assert dropped.run(spec) == 1
    assert dropped.read(key) == b"the agent's word"


def patched(monkeypatch: pytest.MonkeyPatch, *said: Event | Exception) -> None:
    """Let `collect` say these things, whatever it is given."""

    def work(_: Assignment, __: Materials) -> Iterator[Event]:
        for one in said:
            if isinstance(one, Exception):
                raise one
            yield one

    monkeypatch.setitem(PHASES, "collect", Steps(lambda *_: {}, work))


def test_an_unforeseen_error_is_a_crash_and_its_traceback_is_logged(
    dropped: Box, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    patched(monkeypatch, Inspected(()), ZeroDivisionError("by what?"))
    spec = dropped.job("collect")
    assert dropped.run(spec) == 1
    result = dropped.result(spec)
    assert result.failure is not None
    assert result.failure.error == "JobCrashed"
    assert "ZeroDivisionError" in caplog.text


def test_work_that_ends_without_an_outcome_is_a_crash(
    dropped: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched(monkeypatch, Advance("nearly"))
    spec = dropped.job("collect")
    assert dropped.run(spec) == 1
    failure = dropped.result(spec).failure
    assert failure is not None
    assert failure.error == "JobCrashed"


def test_a_figure_that_is_no_number_does_not_become_a_broken_result(
    dropped: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched(monkeypatch, Done(metrics={"loss": float("nan")}))
    spec = dropped.job("collect")
    assert dropped.run(spec) == 1
    failure = dropped.result(spec).failure
    assert failure is not None
    assert "metrics.loss" in failure.cause


def test_a_spec_under_anothers_key_is_not_run(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = box.job("collect")
    elsewhere = layout.job(spec.key._replace(attempt=2))
    box.client.put_object(Bucket=BUCKET, Key=elsewhere, Body=spec.to_bytes())
    assert entry.main(["--job", layout.s3_uri(BUCKET, elsewhere)]) == 2
    assert entry.main(["--job", layout.s3_uri(BUCKET, "runs/none/job.json")]) == 2
    assert entry.main(["--job", "file:///etc/passwd"]) == 2
    assert not [key for key in box.keys("runs/") if key.endswith(("progress.json", "result.json"))]


def test_a_job_is_run_by_its_address(dropped: Box) -> None:
    spec = dropped.job("collect")
    assert entry.main(["--job", dropped.uri(spec)]) == 0
    assert dropped.result(spec).outcome == "succeeded"


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "GetObject")


@pytest.mark.parametrize(
    ("trouble", "name"),
    [
        (refused("AccessDenied"), "JobFailed"),
        (refused("NoSuchKey"), "DataUnusable"),
        (refused("SlowDown"), "ServiceUnavailable"),
        (EndpointConnectionError(endpoint_url="https://x"), "ServiceUnavailable"),
    ],
)
def test_what_s3_answers_becomes_an_error_of_ours(trouble: Exception, name: str) -> None:
    class Client:
        def get_object(self, **_: object) -> None:
            raise trouble

    with pytest.raises(RelayError) as caught:
        Objects(BUCKET, Client()).get("some/key")
    assert type(caught.value).__name__ == name
    assert f"s3://{BUCKET}/some/key" in str(caught.value)


def test_a_cluster_that_is_named_but_gone_is_an_error_that_a_retry_may_heal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from training import cluster

    def unreachable(address: str) -> None:
        raise ServiceUnavailable(f"Ray at {address} does not answer")

    monkeypatch.setattr(cluster, "RayCluster", unreachable)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(ServiceUnavailable):
        cluster.join()
    monkeypatch.delenv("RAY_ADDRESS")
    assert isinstance(cluster.join(), ThisProcess)


def test_the_driver_loads_no_library_that_only_the_work_needs() -> None:
    script = (
        "import json, sys, training.__main__\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'safetensors', 'numpy', 'ray'}\n"
        "print(json.dumps(sorted(heavy & set(sys.modules))))"
    )
    root = Path(__file__).parents[2]
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=root, check=True, text=True
    )
    assert json.loads(made.stdout) == []


def test_a_deadline_in_the_past_ends_the_job_with_its_name(dropped: Box) -> None:
    artifacts = dict(dropped.finished("collect").artifacts)
    inputs = {name: artifacts[name] for name in ("episodes", "start")}
    late = datetime.now(UTC) - timedelta(seconds=1)
    spec = dropped.job("optimize", inputs, deadline=late)
    assert dropped.run(spec) == 1
    failure = dropped.result(spec).failure
    assert failure is not None
    assert failure.error == "DeadlineExceeded"
    assert "patience.timeout_s" in failure.cause


def test_a_job_ends_itself_when_it_has_worked_as_long_as_it_may(
    dropped: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its deadline is an hour away; it saves the step it is at, as it would there."""
    dropped.pipeline = recipe(optimize={"steps": 100_000, "checkpoint_every": 100_000})
    dropped.plan()
    artifacts = dict(dropped.finished("collect").artifacts)
    inputs = {name: artifacts[name] for name in ("episodes", "start")}
    spec = dropped.job("optimize", inputs, timeout_s=3)
    assert dropped.run(spec) == 1
    failure = dropped.result(spec).failure
    assert failure is not None
    assert failure.error == "DeadlineExceeded"
    assert "patience.timeout_s" in failure.cause
    saved = [int(path.name[5:]) for path in dropped.folder.rglob("step-*") if path.is_dir()]
    assert max(saved) > 0, "only its end can have made it: the recipe keeps none so early"


def test_an_attempt_that_was_stopped_before_it_began_does_nothing(dropped: Box) -> None:
    spec = dropped.job("collect")
    mark = Stop(reason="cancelled", at=datetime.now(UTC))
    dropped.client.put_object(Bucket=BUCKET, Key=layout.stop(spec.key), Body=mark.to_bytes())
    assert dropped.run(spec) == 1
    failure = dropped.result(spec).failure
    assert failure is not None
    assert failure.error == "AttemptFenced"
    assert not (dropped.folder / RUN).exists()
