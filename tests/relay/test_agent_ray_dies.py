"""A Ray that dies takes its jobs with it, and is started again."""

from __future__ import annotations

from typing import Any

import pytest
from agents import until
from job_objects import exit_of, job_spec, result_of, submit, waiting
from process_ray import ProcessRay

from contracts.errors import ServiceUnavailable
from relay.agent.agent import mark_of
from relay.agent.processes_psutil import LocalProcesses
from relay.agent.ray_health import GIVE_UP_S


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
