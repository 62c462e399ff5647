from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pair_files import lines, trl, turn

from contracts.pipeline import DataRules
from trajectories.validating import Verdict, validate


def verdict(folder: Path, content: bytes, **rules: Any) -> Verdict:
    path = folder / "f.jsonl"
    path.write_bytes(content)
    return validate(path, name="f.jsonl", rules=DataRules(**rules))


def test_a_good_file_is_ok_and_says_what_is_trained_on(tmp_path: Path) -> None:
    found = verdict(tmp_path, lines(*map(trl, range(200))), held_out_share=0.25)
    assert found.ok
    assert found.remedy == ""
    assert (found.records, found.usable, found.rejected) == (200, 200, 0)
    assert found.training + found.held_out == 200
    assert 30 <= found.held_out <= 70


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no usable record in 0 records; f.jsonl is empty"),
        (b"nonsense", "no usable record in 0 records; f.jsonl is not JSON"),
        (lines(trl(chosen="a", rejected="a")), "line 1, rejected: chosen and rejected are equal"),
    ],
)
def test_a_file_without_a_usable_pair_is_not_ok(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    found = verdict(tmp_path, content)
    assert not found.ok
    assert reason in found.reason
    assert found.remedy


@pytest.mark.parametrize(
    ("allowed", "ok"), [(0.0, False), (0.24, False), (0.25, True), (1.0, True)]
)
def test_a_file_is_refused_whole_when_its_bad_share_is_larger_than_allowed(
    tmp_path: Path, allowed: float, ok: bool
) -> None:
    found = verdict(tmp_path, lines(*map(trl, range(30)), *[b"{"] * 10), max_bad_share=allowed)
    assert found.ok is ok
    assert (found.usable, found.rejected) == (30, 10)
    assert ("10 of 40 records are bad" in found.reason) is not ok


@pytest.mark.parametrize("bad", [7, 29, 57, 58])
def test_a_bad_share_that_is_just_allowed_is_allowed(tmp_path: Path, bad: int) -> None:
    file = lines(*map(trl, range(100 - bad)), *[b"{"] * bad)
    assert verdict(tmp_path, file, max_bad_share=bad / 100).ok


def test_what_is_not_learnt_from_is_not_ok_whatever_its_reward(tmp_path: Path) -> None:
    shows = [turn("user", [{"type": "image", "path": "a.png"}]), turn("assistant", "a cat")]
    unlearnt = [turn("user", "a"), {**turn("assistant", "b"), "weight": 0}]
    for turns, why in ((shows, "it shows images"), (unlearnt, "in none of 1 usable record")):
        found = verdict(tmp_path, lines({"task_id": "1", "reward": 1, "messages": turns}))
        assert (found.ok, found.usable, found.demonstrations) == (False, 1, 0)
        assert why in found.reason
    pair = trl(rejected=[{**turn("assistant", "b"), "weight": 0}])
    assert "in none of 1 usable record" in verdict(tmp_path, lines(pair)).reason


def test_a_file_larger_than_the_pipeline_allows_is_not_read(tmp_path: Path) -> None:
    found = verdict(tmp_path, lines(trl(1)), max_object_bytes=10)
    assert not found.ok
    assert found.evidence == "not read"
    assert "more than the 10 that the pipeline allows" in found.reason


def test_the_pipelines_format_is_held_to(tmp_path: Path) -> None:
    assert not verdict(tmp_path, lines(trl(1)), format="sharegpt_pairs").ok


def test_a_file_that_alone_leaves_one_side_of_the_split_empty_is_said_to(tmp_path: Path) -> None:
    found = verdict(tmp_path, lines(trl(1)))
    assert not found.ok
    assert found.usable == 1
    assert "a run needs both" in found.reason
    assert "of other prompts" in found.remedy
