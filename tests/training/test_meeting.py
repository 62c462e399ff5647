"""How learners of a party find one another, as far as it shows without a Ray."""

from datetime import timedelta
from typing import Any

import pytest
from job_box import Box, recipe
from torch import distributed

from training.algorithms.party import Party
from training.assignment import read_assignment
from training.objects import Objects
from training.phases import together


def test_learners_wait_for_the_first_as_long_as_the_attempt_may_take(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(distributed, "init_process_group", lambda _, **more: told.update(more))
    box.pipeline = recipe(patience={"timeout_s": 7200})
    box.plan()
    spec = box.job("optimize", {})
    assignment = read_assignment(Objects("bucket-of-tests", box.client), spec)
    together._meet(assignment, box.folder / "meeting", Party(1, 2))
    assert told["timeout"] == timedelta(seconds=7200)
    assert (told["rank"], told["world_size"]) == (1, 2)


@pytest.mark.parametrize(("given", "expected"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_learners_begin_with_threads_that_sleep_while_they_wait_unless_told_otherwise(
    box: Box, monkeypatch: pytest.MonkeyPatch, given: str | None, expected: str
) -> None:
    """Ray Train loads torch before a learner's own code, and torch reads it only then."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given:
        monkeypatch.setenv("OMP_WAIT_POLICY", given)
    box.plan()
    spec = box.job("optimize", {}, hardware={"cpus": 2, "learners": 2})
    assignment = read_assignment(Objects("bucket-of-tests", box.client), spec)
    environment = together._trainer(assignment, {}).run_config.worker_runtime_env
    assert environment == {"env_vars": {"OMP_WAIT_POLICY": expected}}
