"""Several learners of one training, as workers of Ray Train of a running Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from job_box import Box, recipe
from pydantic import ValidationError
from test_in_ray import cluster_box, collected, ray_there, s3_there, step_of, wait_for

from contracts.artifact import ArtifactRef
from contracts.result import PhaseResult
from training.algorithms.party import Party
from training.checkpoints.folders import folder_of

pytestmark = pytest.mark.ray
__all__ = ["cluster_box", "ray_there", "s3_there"]
QUICK = {"steps": 12, "checkpoint_every": 4, "batch_size": 7, "chosen_nll_weight": 0.5}
LONG = {"steps": 400, "checkpoint_every": 5, "learning_rate": 1e-4}
TWO = {"cpus": 1, "learners": 2}


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_shares_are_the_batch_each_item_once_even_when_there_are_too_few(size: int) -> None:
    batch = list(range(5))
    shares = [Party(rank, size).share(batch) for rank in range(size)]
    assert sorted(item for share in shares for item in share) == batch
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_ppo_is_not_shared_out_and_says_so() -> None:
    ppo = {"rounds": [{"collect": {}, "optimize": [{"algorithm": "ppo"}]}], "environment": {}}
    with pytest.raises(ValidationError, match=r"hardware.learners is 2, but ppo .* set it to 1"):
        recipe(**ppo, model={"source": "tiny"}, gate={"metric": "success_rate"}, hardware=TWO)


def learnt(
    box: Box, ray: dict[str, str], inputs: dict[str, ArtifactRef], *, attempt: int, **hardware: Any
) -> PhaseResult:
    """An optimize as a process of its own, in a workspace that no other attempt wrote to."""
    box.folder = box.folder.parent / f"attempt-{attempt}"
    spec = box.job("optimize", inputs, attempt=attempt, hardware={"cpus": 1, **hardware})
    assert box.start(spec, **ray).wait(120) == 0, box.result(spec).failure
    return box.result(spec)


def curve(result: PhaseResult) -> list[dict[str, Any]]:
    lines = (folder_of(result.artifacts["policy"]) / "curve.jsonl").read_text().splitlines()
    return [json.loads(line)["figures"] for line in lines]


def weights(result: PhaseResult) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(Path(folder_of(result.artifacts["policy"])) / "model.safetensors")


def test_two_learners_go_through_the_data_as_one_does(
    cluster_box: Box, ray_there: dict[str, str]
) -> None:
    import torch

    cluster_box.pipeline = recipe(optimize=QUICK)
    cluster_box.plan()
    inputs = collected(cluster_box, ray_there)
    alone = learnt(cluster_box, ray_there, inputs, attempt=1)
    together = learnt(cluster_box, ray_there, inputs, attempt=2, learners=2)
    assert len(curve(alone)) == len(curve(together)) == QUICK["steps"]
    for one, two in zip(curve(alone), curve(together), strict=True):
        assert one == pytest.approx(two, abs=1e-4)
    for name, tensor in weights(alone).items():
        torch.testing.assert_close(tensor, weights(together)[name], atol=1e-4, rtol=1e-3)


def test_a_killed_learner_ends_them_all_and_the_next_attempt_goes_on(
    cluster_box: Box, ray_there: dict[str, str]
) -> None:
    cluster_box.pipeline = recipe(optimize=LONG)
    cluster_box.plan()
    inputs = collected(cluster_box, ray_there)
    first = cluster_box.job("optimize", inputs, hardware=TWO)
    process = cluster_box.start(first, **ray_there)
    wait_for(lambda: step_of(cluster_box, first) > 12 or process.poll() is not None, 120)
    learners()[-1].kill()
    assert process.wait(60) == 1
    failure = cluster_box.result(first).failure
    assert failure is not None
    assert (failure.error, failure.cause[:8]) == ("JobCrashed", "learner ")
    wait_for(lambda: not learners(), 30)
    second = cluster_box.job("optimize", inputs, attempt=2)
    assert cluster_box.start(second, **ray_there).wait(120) == 0
    assert "step" in cluster_box.result(second).resumed_from


def learners() -> list[psutil.Process]:
    """Processes of Ray Train's workers."""
    found = []
    for one in psutil.process_iter(["cmdline"]):
        if "RayTrainWorker" in " ".join(one.info["cmdline"] or []):
            found.append(one)
    return found
