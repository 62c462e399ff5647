"""Learners of a party learn from labels as one alone does, also when they go on: without a Ray."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from job_box import Box
from test_labels import KTO, SFT, collected, inputs, labelled_file
from torch import distributed

from training.algorithms.party import ALONE, Party
from training.assignment import Assignment, read_assignment
from training.events import Done, Materials, Stopped
from training.objects import Objects
from training.phases import optimize

STEPS = [SFT | {"steps": 2, "batch_size": 3}, KTO | {"steps": 3, "batch_size": 2}]


def learn(
    assignment: Assignment, materials: Materials, party: Party, stop_at: int | None
) -> Done | Stopped:
    """Learn to the end, or until a stop is asked for after a step."""
    for event in optimize.learn(assignment, materials, party):
        if isinstance(event, Done | Stopped):
            return event
        if stop_at is not None and getattr(event, "step", 0) == stop_at and not party.rank:
            assignment.stop_mark.touch()
    raise AssertionError("the work ended without an outcome")


def be_a_learner(
    rank: int,
    size: int,
    meeting: str,
    told: Any,
    assignment: Assignment,
    materials: Materials,
    stop_at: int,
) -> None:
    """What each process does."""
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size)
    outcome = learn(assignment, materials, Party(rank, size), stop_at)
    if not rank:
        told.put(outcome)


def learn_together(size: int, place: Path, *orders: Any) -> Done | Stopped:
    processes = multiprocessing.get_context("spawn")
    told = processes.Queue()
    arguments = (size, (place / f"meeting-{size}").as_uri(), told, *orders)
    learners = [
        processes.Process(target=be_a_learner, args=(rank, *arguments)) for rank in range(size)
    ]
    for one in learners:
        one.start()
    outcome: Done | Stopped = told.get(timeout=120)
    for one in learners:
        one.join(60)
        assert one.exitcode == 0
    return outcome


def test_three_learners_of_two_labels_a_step_come_to_what_one_does_and_one_goes_on(
    box: Box, tmp_path: Path
) -> None:
    _, artifacts = collected(box, labelled_file(40), *STEPS)

    def begun(attempt: int) -> tuple[Assignment, Materials]:
        objects = Objects("bucket-of-tests", box.client)
        spec = box.job("optimize", inputs(artifacts), attempt=attempt)
        assignment = read_assignment(objects, spec)
        return assignment, optimize.prepare(assignment, objects)

    stopped = learn_together(3, tmp_path, *begun(1), 4)
    assert stopped == Stopped(4)
    gone_on = learn(*begun(2), ALONE, None)
    assert isinstance(gone_on, Done)
    assert gone_on.resumed_from == "step 4 of attempt 1"
    box.folder = box.folder.parent / "alone"
    alone = learn(*begun(1), ALONE, None)
    assert isinstance(alone, Done)
    assert dict(gone_on.metrics) == pytest.approx(dict(alone.metrics), abs=1e-4)
