"""SageMaker's folders: used where they are named, and never a reason to fail."""

import json
from pathlib import Path

import pytest
from job_box import Box

from contracts import layout
from contracts.artifact import MANIFEST, ArtifactRef

Collected = tuple[Box, dict[str, ArtifactRef]]


def inputs_of(collected: Collected) -> dict[str, ArtifactRef]:
    return {name: collected[1][name] for name in ("episodes", "start")}


def test_where_the_variables_are_set_model_result_and_checkpoints_lie_in_their_folders(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = collected[0]
    for variable, name in {
        "SM_MODEL_DIR": "model",
        "SM_OUTPUT_DATA_DIR": "output/data",
        "SM_OUTPUT_DIR": "output",
        "SM_CHECKPOINT_DIR": "checkpoints",
    }.items():
        monkeypatch.setenv(variable, str(tmp_path / "ml" / name))
    spec = box.job("optimize", inputs_of(collected))
    assert box.run(spec) == 0
    ml = tmp_path / "ml"
    assert (ml / "model" / MANIFEST).exists()
    exported = layout.policy(spec.pipeline, spec.run)
    names = {key.removeprefix(exported) for key in box.keys(exported)}
    assert {path.name for path in (ml / "model").iterdir()} == names
    assert (ml / "output/data/result.json").read_bytes() == box.read(layout.result(spec.key))
    assert not (ml / "output/failure").exists()
    assert list((ml / "checkpoints" / spec.run).rglob("step-*"))
    assert not list(box.folder.glob(f"{spec.run}/1-optimize-checkpoints"))


def test_a_failure_is_one_line_in_sagemakers_file(
    dropped: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SM_OUTPUT_DIR", str(tmp_path / "output"))
    spec = dropped.job("optimize")
    assert dropped.run(spec) == 1
    line = (tmp_path / "output/failure").read_text()
    failure = json.loads(dropped.read(layout.result(spec.key)))["failure"]
    assert line == f"{failure['error']}: {failure['cause']}"[:1024]


def test_a_folder_that_cannot_be_written_to_fails_no_job(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    for variable in ("SM_MODEL_DIR", "SM_OUTPUT_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "file"))
    box = collected[0]
    assert box.run(box.job("optimize", inputs_of(collected))) == 0


def test_without_the_variables_nothing_is_written_but_to_the_workspace(
    collected: Collected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("SM_MODEL_DIR", "SM_OUTPUT_DATA_DIR", "SM_OUTPUT_DIR", "SM_CHECKPOINT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    box = collected[0]
    before = set(tmp_path.iterdir())
    spec = box.job("optimize", inputs_of(collected))
    assert box.run(spec) == 0
    assert set(tmp_path.iterdir()) == before
    assert list((box.folder / spec.run / "1-optimize-checkpoints").rglob("step-*"))
