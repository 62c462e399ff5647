"""A job that can never start on the agent's Ray is not waited for."""

from __future__ import annotations

from typing import Any

import pytest
from job_objects import exit_of, job_spec, result_of, submit, waiting
from process_ray import ProcessRay

from contracts.errors import PermanentError, PipelineInvalid
from contracts.hardware import Hardware
from relay.agent.fitting import misfit
from relay.agent.ports import Room

ROOM = Room(cpus=4, gpus=1)


@pytest.mark.parametrize(
    ("phase", "hardware"),
    [
        ("optimize", {"cpus": 4, "gpus": 1}),
        ("optimize", {"cpus": 0.1, "learners": 40}),
        ("collect", {"cpus": 4, "learners": 8}),
    ],
)
def test_what_is_there_when_nothing_else_runs_is_enough(phase: str, hardware: Any) -> None:
    assert misfit(job_spec(phase=phase, hardware=Hardware(**hardware)), ROOM) is None


@pytest.mark.parametrize(
    ("hardware", "words"),
    [
        ({"cpus": 5}, ["hardware.cpus asks for 5", "has 4", "lower hardware.cpus in"]),
        ({"gpus": 2}, ["hardware.gpus asks for 2", "has 1", "lower hardware.gpus in"]),
        (
            {"cpus": 2, "learners": 3},
            ["2 for each of 3 learners, 6 in all", "has 4", "hardware.cpus or hardware.learners"],
        ),
    ],
)
def test_it_says_the_field_what_it_asks_for_what_there_is_and_the_remedy(
    hardware: Any, words: list[str]
) -> None:
    said = misfit(job_spec(hardware=Hardware(**hardware)), ROOM)
    assert said is not None
    assert [word for word in words if word not in said] == []


def test_such_a_job_ends_at_once_and_for_good(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec(hardware=Hardware(cpus=8))
    submit(spec, s3, queue)
    agent.turn()
    result, end = result_of(s3, spec.key), exit_of(s3, spec.key)
    assert result is not None
    assert result.failure is not None
    assert result.failure.error == PipelineInvalid.__name__
    assert issubclass(PipelineInvalid, PermanentError), "no retry is spent on it"
    assert "hardware.cpus asks for 8, but this Ray has 2" in result.failure.cause
    assert end is not None
    assert end.how == "refused"
    assert (ray.starts, agent.in_flight.jobs(), waiting(queue)) == ([], {}, 0)


def test_on_a_ray_that_may_grow_it_waits_for_its_room(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec(hardware=Hardware(cpus=8))
    agent.health.keeper.says_it_grows = True
    submit(spec, s3, queue)
    agent.turn()
    assert ray.look(spec.key.job_name).state == "RUNNING"
    assert exit_of(s3, spec.key) is None


def test_a_ray_that_has_yet_to_say_what_it_has_is_waited_for(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    has, ray.has = ray.has, None
    submit(spec, s3, queue)
    agent.turn()
    assert (ray.starts, exit_of(s3, spec.key)) == ([], None)
    ray.has = has
    agent.turn()
    assert ray.starts == [spec.key.job_name]
