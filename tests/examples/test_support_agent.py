"""A log of a support desk as it is kept: from the drop to the gate, on real torch."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
import yaml
from moto import mock_aws

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.pipeline import Pipeline, TinyModel
from contracts.result import PhaseResult
from lambdas.logic.gate import judge as judge_gate
from training.checkpoints.folders import folder_of
from training.cluster import ThisProcess
from training.models.folders import save_policy
from training.models.tiny import make_tiny
from training.models.tokenizer import train_tokenizer
from trajectories.splitting import task_is_held_out
from trajectories.validating import validate

FOLDER = Path(__file__).parents[2] / "examples" / "support-agent"
LOG = FOLDER / "log.json"
AIRLINE = Path(__file__).parents[3] / "shared" / "data" / "tau_airline_60.json"
sys.path.append(str(Path(__file__).parents[1] / "training"))

from job_box import BUCKET, NAME, Box  # noqa: E402 - shared with the tests of jobs


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((FOLDER / "pipeline.yaml").read_text())
    return value


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr("training.attempt.join", ThisProcess)
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        yield Box(client, tmp_path)


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("support_agent_judge", FOLDER / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def smaller(recipe: dict[str, Any], *, context: int, steps: int) -> Pipeline:
    """The recipe on a narrower model and for fewer steps; everything else as it is."""
    few = [
        step | {"steps": steps, "warmup_steps": 1, "checkpoint_every": steps}
        for step in recipe["rounds"][0]["optimize"]
    ]
    model = recipe["model"] | {"hidden_size": 32, "layers": 1, "heads": 2, "context": context}
    changes = {"name": NAME, "model": model, "rounds": [{"optimize": few}]}
    return Pipeline.model_validate(recipe | changes | {"hardware": {"cpus": 1}})


def run_through(box: Box, log: Path) -> tuple[dict[str, PhaseResult], dict[str, ArtifactRef]]:
    box.drop(log.name, log.read_bytes())
    box.plan()
    results = {"collect": box.finished("collect")}
    made = dict(results["collect"].artifacts)
    results["optimize"] = box.finished(
        "optimize", {name: made[name] for name in ("episodes", "start")}
    )
    made |= results["optimize"].artifacts
    results["evaluate"] = box.finished("evaluate", made)
    return results, made


def test_making_the_log_again_gives_the_same_bytes(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "make_log.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make_log.py"], check=True)
    assert (tmp_path / "log.json").read_bytes() == LOG.read_bytes()


def test_every_episode_is_usable_and_labels_are_learnt_from(recipe: dict[str, Any]) -> None:
    pipeline = Pipeline.model_validate(recipe)
    verdict = validate(LOG, name=LOG.name, rules=pipeline.learning_rules, plays=False)
    assert (verdict.ok, verdict.format, verdict.rejected) == (True, "episode_logs", 0)
    assert verdict.records == 48
    assert pipeline.learning_rules.learn_from == "auto"


def test_the_recipe_comments_every_field_it_gives() -> None:
    exempt = ("description", "seed", "gpus")
    for line in (FOLDER / "pipeline.yaml").read_text().splitlines():
        if re.match(r"^\s+\w+: \S", line) and not line.strip().startswith(exempt):
            assert " # " in line, line


def test_the_log_is_learnt_from_published_and_judged_by_a_stranger(
    box: Box, recipe: dict[str, Any], judge: ModuleType
) -> None:
    box.pipeline = smaller(recipe, context=1024, steps=12)
    results, made = run_through(box, LOG)
    (why,) = results["collect"].notes
    assert "too few (8 needed on each side of the split), so labels are learnt from" in why
    assert results["optimize"].notes[0].startswith("auto learns by kto")
    verdict = judge_gate(box.pipeline.gate, results["evaluate"].metrics)
    assert verdict.passed, verdict.reason
    assert verdict.reason.startswith("likelihood")
    found = judge.judge(folder_of(made["policy"]), LOG, 0.3, 0.5)
    metrics = results["evaluate"].metrics
    assert found["good"] == metrics["held_out_good"]
    assert found["likelihood"] == pytest.approx(metrics["end_likelihood"], abs=1e-3)
    assert box.keys(layout.policy(NAME, results["optimize"].run))


def test_the_judge_splits_as_training_does(judge: ModuleType) -> None:
    for task in (*range(50), "order-7", "ä"):
        assert judge.is_held_out(task, 0.3) == task_is_held_out(str(task), 0.3)


@pytest.mark.skipif(not AIRLINE.exists(), reason="the airline's log is not here")
def test_a_real_log_as_it_is_goes_the_whole_way_and_says_what_was_cut(
    box: Box, recipe: dict[str, Any]
) -> None:
    """60 episodes of 50 tasks; fewer steps than the recipe's, and a context of a quarter."""
    box.pipeline = smaller(recipe, context=512, steps=2)
    results, _ = run_through(box, AIRLINE)
    (report,) = results["collect"].objects
    assert (report.format, report.records, report.usable) == ("episode_logs", 60, 60)
    assert "23 good, 37 bad" in results["collect"].notes[0]
    trained = results["optimize"]
    assert trained.metrics["train_good"] + trained.metrics["train_bad"] > 30
    assert trained.metrics["train_cut_share"] > 0.5
    assert any("lost their oldest turns" in note for note in trained.notes)
    reason = judge_gate(box.pipeline.gate, results["evaluate"].metrics).reason
    assert "good held-out episodes, gain" in reason


def test_the_judge_runs_from_the_command_line_and_refuses_a_log_without_good_episodes(
    tmp_path: Path,
) -> None:
    episodes = json.loads(LOG.read_text())
    tokenizer = train_tokenizer(
        (turn["content"] or "" for one in episodes for turn in one["traj"]),
        vocab_size=400,
        context=1024,
    )
    shape = TinyModel(hidden_size=16, layers=1, heads=2, context=1024)
    save_policy(tmp_path, make_tiny(shape, tokenizer), tokenizer)
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([one | {"reward": 0} for one in episodes]))
    command = [sys.executable, FOLDER / "judge.py", tmp_path]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    good = subprocess.run(
        [*command, LOG], env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(good.stdout)
    assert found["too_long"] == 0
    assert found["likelihood"] == pytest.approx(-math.log(400), abs=0.5)
    refused = subprocess.run(
        [*command, bad], env=environment, capture_output=True, text=True, check=False
    )
    assert refused.returncode
    assert "no good held-out episode" in refused.stderr
