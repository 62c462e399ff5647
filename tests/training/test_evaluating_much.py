"""Evaluating what was dropped needs no more memory for more of it."""

from __future__ import annotations

import tracemalloc

import pytest
from job_box import Box, recipe
from sample_pairs import make_pairs, openai_file

from contracts.artifact import ArtifactRef
from training.assignment import read_assignment
from training.episodes import encoding
from training.events import Done
from training.objects import Objects
from training.phases import evaluate

AUTO = {"algorithm": "auto", "steps": 1, "batch_size": 8, "checkpoint_every": 1}


def collected(box: Box, count: int, attempt: int) -> dict[str, ArtifactRef]:
    box.drops = []
    box.drop("pairs.jsonl", openai_file(make_pairs(count)))
    box.plan()
    spec = box.job("collect", attempt=attempt)
    assert box.run(spec) == 0, box.result(spec).failure
    made = box.result(spec).artifacts
    return {**made, "policy": made["start"]}


def peak_kib(box: Box, inputs: dict[str, ArtifactRef], figure: str) -> tuple[int, float]:
    """Most memory of Python's own that evaluating took, and how much there was of it."""
    objects = Objects("bucket-of-tests", box.client)
    assignment = read_assignment(objects, box.job("evaluate", inputs))
    materials = evaluate.prepare(assignment, objects)
    tracemalloc.start()
    try:
        *_, done = evaluate.work(assignment, materials)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(done, Done)
    return peak // 1024, done.metrics[figure]


@pytest.mark.parametrize(
    ("learn_from", "figure"), [("pairs", "pairs"), ("labels", "held_out_good")]
)
def test_memory_does_not_grow_with_what_is_held_out(
    box: Box, monkeypatch: pytest.MonkeyPatch, learn_from: str, figure: str
) -> None:
    """Some 500 pairs more, which take several kilobytes each as objects."""
    monkeypatch.setattr(encoding, "_AT_ONCE", 64)
    data = {"learn_from": learn_from, "held_out_share": 0.5}
    box.pipeline = recipe(rounds=[{"optimize": [AUTO]}], data=data)
    few, many = (collected(box, count, attempt) for attempt, count in ((1, 200), (2, 1_200)))
    peak_kib(box, few, figure)
    of_few = peak_kib(box, few, figure)
    of_many = peak_kib(box, many, figure)
    assert of_many[1] - of_few[1] > 400
    assert of_many[0] - of_few[0] < 768
