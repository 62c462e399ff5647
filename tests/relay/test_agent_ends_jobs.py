"""How a job ends, and what the agent puts on record of it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from agents import until
from job_objects import BUCKET, exit_of, job_spec, read, result_of, stop, submit
from process_ray import ProcessRay, sleeper

from contracts import layout
from relay.agent import agent as agent_module
from relay.agent.agent import mark_of
from relay.agent.decisions import KILL_AFTER_S
from relay.agent.processes_psutil import LocalProcesses


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
