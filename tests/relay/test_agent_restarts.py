"""An agent that died finds its jobs again, and starts none twice."""

from __future__ import annotations

from typing import Any

import pytest
from agents import until
from job_objects import exit_of, job_spec, submit
from process_ray import ProcessRay


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
