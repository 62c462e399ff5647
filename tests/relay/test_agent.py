"""The agent against an embedded S3 and SQS, and jobs that are plain processes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from job_objects import BUCKET, job_spec, ring, submit, waiting
from process_ray import ProcessRay, sleeper

from contracts import layout
from contracts.errors import ServiceUnavailable
from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.names import AttemptKey
from contracts.result import PhaseResult
from relay.agent import agent as agent_module
from relay.agent.agent import Agent, mark_of
from relay.agent.decisions import KILL_AFTER_S
from relay.agent.doorbells_sqs import SqsDoorbells
from relay.agent.in_flight import InFlight
from relay.agent.objects_s3 import S3Objects
from relay.agent.processes_psutil import LocalProcesses
from relay.agent.ray_health import GIVE_UP_S, RayHealth


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def pass_s(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


class Keeper:
    """Says of Ray what a test tells it to, and brings it back."""

    def __init__(self, ray: ProcessRay) -> None:
        self.ray, self.restarts, self.says_alive = ray, 0, None

    def alive(self) -> bool | None:
        return self.says_alive

    def restart(self) -> None:
        self.restarts += 1
        self.says_alive = None
        self.ray.come_back()


@pytest.fixture
def ray() -> Iterator[ProcessRay]:
    ray = ProcessRay()
    jobs = ray.jobs
    yield ray
    ray.jobs = {**jobs, **ray.jobs}
    ray.clear()


@pytest.fixture
def make_agent(
    objects: S3Objects,
    doorbells: SqsDoorbells,
    ray: ProcessRay,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Agent]:
    """A new agent on the same folder each time, as after a restart; jobs run for a minute."""
    monkeypatch.setattr(
        agent_module, "command_of", lambda spec: sleeper(60, 0, *mark_of(spec).split())
    )
    clock = HandClock()

    def make() -> Agent:
        return Agent(
            objects=objects,
            doorbells=doorbells,
            jobs=ray,
            processes=LocalProcesses(),
            health=RayHealth(ray, Keeper(ray), clock),
            in_flight=InFlight(tmp_path / "in-flight.json"),
            clock=clock,
            environment={"MARK": "job"},
            at_once=2,
        )

    return make


def read(s3: Any, key: str) -> bytes | None:
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=key).get("KeyCount", 0)
    body: bytes | None = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() if found else None
    return body


def exit_of(s3: Any, key: AttemptKey) -> Exit | None:
    body = read(s3, layout.exit_(key))
    return None if body is None else Exit.from_bytes(body, where="exit")


def result_of(s3: Any, key: AttemptKey) -> PhaseResult | None:
    body = read(s3, layout.result(key))
    return None if body is None else PhaseResult.from_bytes(body, where="result")


def stop(s3: Any, spec: JobSpec) -> None:
    mark = Stop(reason="the run was cancelled", at=datetime.now(UTC))
    s3.put_object(Bucket=BUCKET, Key=layout.stop(spec.key), Body=mark.to_bytes())


def until(condition: Callable[[], bool], limit_s: float = 10) -> None:
    give_up = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.05)


def test_a_job_is_claimed_started_and_its_doorbell_removed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    claim = Claim.from_bytes(read(s3, layout.claim(spec.key)) or b"", where="claim")
    assert claim.agent == agent.in_flight.agent
    assert ray.look(spec.key.job_name).state == "RUNNING"
    assert ray.environments[spec.key.job_name] == {"MARK": "job"}
    assert waiting(queue) == 0
    assert agent.in_flight.jobs()[spec.key.job_name].stage == "started"


def test_the_real_command_is_the_training_entry_point_with_the_jobs_address() -> None:
    spec = job_spec()
    address = f"s3://{BUCKET}/{layout.job(spec.key)}"
    assert agent_module.command_of(spec) == [sys.executable, "-m", "training", "--job", address]
    assert mark_of(spec) in " ".join(agent_module.command_of(spec))


def test_a_second_ring_starts_nothing_and_is_removed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    ring(spec, queue)
    agent.turn()
    assert ray.starts == [spec.key.job_name]
    assert waiting(queue) == 0


def test_a_job_that_leaves_no_result_gets_one_that_echoes_its_nonce(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "command_of", lambda spec: sleeper(0, 7))
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    until(lambda: ray.look(spec.key.job_name).state == "FAILED")
    agent.turn()
    result, end = result_of(s3, spec.key), exit_of(s3, spec.key)
    assert result is not None
    assert result.nonce == spec.nonce
    assert result.failure is not None
    assert result.failure.error == "JobCrashed"
    assert "exit code 7" in result.failure.cause
    assert end is not None
    assert end.how == "failed"
    assert agent.in_flight.jobs() == {}


def test_a_result_that_the_job_left_stands(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "command_of", lambda spec: sleeper(0, 0))
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    s3.put_object(Bucket=BUCKET, Key=layout.result(spec.key), Body=b"its own word")
    agent.turn()
    until(lambda: ray.look(spec.key.job_name).state == "SUCCEEDED")
    agent.turn()
    end = exit_of(s3, spec.key)
    assert read(s3, layout.result(spec.key)) == b"its own word"
    assert end is not None
    assert end.how == "succeeded"


def test_a_job_that_was_stopped_first_never_starts(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    stop(s3, spec)
    agent.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "refused"
    assert result_of(s3, spec.key) is None
    assert waiting(queue) == 0


def test_a_stop_between_claim_and_start_keeps_the_job_from_starting(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, objects: S3Objects
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    claim = objects.put_claim

    def claim_then_stop(key: AttemptKey, record: Claim) -> bool:
        won = claim(key, record)
        stop(s3, spec)
        return won

    objects.put_claim = claim_then_stop  # type: ignore[method-assign]
    agent.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "refused"


def test_a_job_past_its_deadline_is_refused(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec(deadline=datetime.now(UTC))
    submit(spec, s3, queue)
    agent.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "refused"


def test_a_job_that_another_agent_claimed_is_left_alone(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, objects: S3Objects
) -> None:
    agent, spec = make_agent(), job_spec()
    objects.put_claim(spec.key, Claim(agent="another", at=datetime.now(UTC)))
    submit(spec, s3, queue)
    agent.turn()
    assert ray.starts == []
    assert exit_of(s3, spec.key) is None
    assert agent.in_flight.jobs() == {}
    assert waiting(queue) == 0


def test_a_doorbell_for_a_job_that_is_not_there_is_removed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    ring(job_spec(), queue)
    agent.turn()
    assert waiting(queue) == 0
    assert agent.in_flight.jobs() == {}


def test_a_spec_at_another_jobs_place_is_not_run(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    other = job_spec(attempt=2)
    s3.put_object(Bucket=BUCKET, Key=layout.job(spec.key), Body=other.to_bytes())
    ring(spec, queue)
    agent.turn()
    assert ray.starts == []


def test_a_message_that_names_no_job_is_left_to_the_dead_letter_queue(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    client, url = queue
    for body in ("not json", "[]", '{"job": 3}', "{}"):
        client.send_message(QueueUrl=url, MessageBody=body)
    make_agent().turn()
    assert waiting(queue) == 4


def test_there_are_never_more_jobs_than_there_is_room_for(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    for attempt in range(1, 5):
        submit(job_spec(attempt=attempt), s3, queue)
    for _ in range(3):
        agent.turn()
    assert len(ray.starts) == 2
    assert waiting(queue) == 2


def test_a_running_job_is_ended_when_a_stop_appears(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    stop(s3, spec)
    agent.review()
    until(lambda: ray.look(spec.key.job_name).state == "STOPPED")
    agent.review()
    result, end = result_of(s3, spec.key), exit_of(s3, spec.key)
    assert end is not None
    assert end.how == "stopped"
    assert result is not None
    assert result.failure is not None
    assert result.failure.error == "JobStopped"


def test_a_job_whose_ray_does_not_obey_is_killed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    ray.deaf = True
    stop(s3, spec)
    agent.review()
    assert ray.look(spec.key.job_name).state == "RUNNING"
    agent.clock.pass_s(KILL_AFTER_S)
    agent.review()
    assert not LocalProcesses().alive(mark_of(spec))
    agent.review()
    end = exit_of(s3, spec.key)
    assert end is not None
    assert end.how == "stopped"


def test_a_job_past_its_deadline_is_ended(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    spec = job_spec()
    submit(spec, s3, queue)
    agent.turn()
    agent.clock.pass_s(3700)
    agent.review()
    until(lambda: ray.look(spec.key.job_name).state == "STOPPED")
    agent.review()
    result = result_of(s3, spec.key)
    assert result is not None
    assert result.failure is not None
    assert result.failure.error == "DeadlineExceeded"


def test_a_restarted_agent_finds_its_job_and_goes_on_watching(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    first, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    first.turn()
    second = make_agent()
    assert second.in_flight.agent == first.in_flight.agent
    second.turn()
    assert ray.starts == [spec.key.job_name]
    assert exit_of(s3, spec.key) is None
    ray.jobs[spec.key.job_name].process.kill()
    until(lambda: ray.look(spec.key.job_name).state == "FAILED")
    second.turn()
    end = exit_of(s3, spec.key)
    assert end is not None
    assert end.how == "failed"


def test_an_agent_that_died_after_its_claim_starts_the_job_when_it_is_back(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, spec = make_agent(), job_spec()
    submit(spec, s3, queue)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(first, "_start", die)
    with pytest.raises(KeyboardInterrupt):
        first.turn()
    assert ray.starts == []
    second = make_agent()
    second.turn()
    assert ray.starts == [spec.key.job_name]


def test_an_agent_that_died_around_the_start_does_not_start_the_job_again(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, spec = make_agent(), job_spec()
    submit(spec, s3, queue)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ray, "start", die)
    with pytest.raises(KeyboardInterrupt):
        first.turn()
    monkeypatch.undo()
    second = make_agent()
    second.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "lost"


def test_jobs_of_a_ray_that_is_silent_too_long_are_lost_killed_and_ray_is_started_again(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    ray.crash()
    agent.turn()
    assert exit_of(s3, spec.key) is None, "a Ray that is silent for a moment is not dead"
    agent.clock.pass_s(GIVE_UP_S)
    agent.turn()
    assert not LocalProcesses().alive(mark_of(spec))
    agent.turn()
    result, end = result_of(s3, spec.key), exit_of(s3, spec.key)
    assert end is not None
    assert end.how == "lost"
    assert result is not None
    assert result.failure is not None
    assert result.failure.error == "JobCrashed"
    until(lambda: agent.health.keeper.restarts == 1)
    after = job_spec(attempt=2)
    submit(after, s3, queue)
    until(lambda: agent.turn() or after.key.job_name in ray.starts)
    assert ray.look(after.key.job_name).state == "RUNNING"


def test_a_ray_that_is_known_to_be_dead_is_not_waited_for(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    agent.turn()
    ray.crash()
    agent.health.keeper.says_alive = False
    agent.turn()
    until(lambda: agent.health.keeper.restarts == 1)


def test_no_job_is_taken_while_ray_is_down(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    ray.crash()
    submit(job_spec(), s3, queue)
    agent.turn()
    assert ray.starts == []
    assert waiting(queue) == 1


def test_a_job_that_ray_would_not_take_is_lost_and_not_tried_again(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ServiceUnavailable("Ray is full")

    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    monkeypatch.setattr(ray, "start", refuse)
    with pytest.raises(ServiceUnavailable):
        agent.turn()
    monkeypatch.undo()
    agent.turn()
    end = exit_of(s3, spec.key)
    assert end is not None
    assert end.how == "lost"


def test_leaving_ends_the_jobs_and_says_so_within_five_seconds(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    specs = [job_spec(attempt=attempt) for attempt in (1, 2)]
    for spec in specs:
        submit(spec, s3, queue)
    until(lambda: agent.turn() or len(ray.starts) == 2)
    started = time.monotonic()
    agent.leave()
    assert time.monotonic() - started < 5
    for spec in specs:
        result, end = result_of(s3, spec.key), exit_of(s3, spec.key)
        assert not LocalProcesses().alive(mark_of(spec))
        assert end is not None
        assert end.how == "stopped"
        assert result is not None
        assert result.failure is not None
        assert result.failure.error == "JobCrashed", "a new attempt may go on"
    assert agent.in_flight.jobs() == {}
