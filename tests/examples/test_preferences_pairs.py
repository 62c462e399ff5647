from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from whole_files import read_file

from contracts.pipeline import Pipeline
from trajectories.pair import Pair
from trajectories.splitting import split
from trajectories.validating import validate

FOLDER = Path(__file__).parents[2] / "examples" / "preferences"


@pytest.fixture(scope="module")
def pairs() -> tuple[Pair, ...]:
    return read_file(FOLDER / "pairs.jsonl", name="pairs.jsonl").pairs


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.model_validate(yaml.safe_load((FOLDER / "pipeline.yaml").read_text()))


def test_making_the_pairs_again_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("make_pairs.py", "phrases.json"):
        shutil.copy(FOLDER / name, tmp_path)
    subprocess.run([sys.executable, tmp_path / "make_pairs.py"], check=True)
    assert (tmp_path / "pairs.jsonl").read_bytes() == (FOLDER / "pairs.jsonl").read_bytes()


def test_every_record_is_usable_under_the_pipelines_rules(pipeline: Pipeline) -> None:
    verdict = validate(FOLDER / "pairs.jsonl", name="pairs.jsonl", rules=pipeline.data)
    assert (verdict.ok, verdict.format, verdict.rejected) == (True, "trl_pairs", 0)
    assert 500 <= verdict.records <= 700
    assert verdict.held_out >= 120
    assert (FOLDER / "pairs.jsonl").stat().st_size < 300_000


def test_no_prompt_comes_twice(pairs: tuple[Pair, ...]) -> None:
    assert len({pair.prompt_digest for pair in pairs}) == len(pairs)


def test_length_does_not_tell_the_preferred_answer(
    pairs: tuple[Pair, ...], pipeline: Pipeline
) -> None:
    _, held_out = split(pairs, pipeline.data.held_out_share)
    for some in (pairs, held_out):
        longer = sum(len(pair.chosen[0].content) > len(pair.rejected[0].content) for pair in some)
        assert 0.42 <= longer / len(some) <= 0.58


def test_no_single_word_tells_the_preferred_answer(pairs: tuple[Pair, ...]) -> None:
    chosen: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    for pair in pairs:
        good, bad = _words(pair.chosen[0].content), _words(pair.rejected[0].content)
        chosen.update(good - bad)
        rejected.update(bad - good)
    for word in chosen | rejected:
        # Guessing where the word is on neither or both sides, by it where it is on one.
        right = 0.5 + abs(chosen[word] - rejected[word]) / len(pairs) / 2
        assert right < 0.7, word


def test_the_recipe_comments_every_field_it_gives() -> None:
    lines = (FOLDER / "pipeline.yaml").read_text().splitlines()
    exempt = ("description", "seed", "gpus")
    for line in lines:
        if re.match(r"^\s+\w+: \S", line) and not line.strip().startswith(exempt):
            assert " # " in line, line


def test_the_pairs_are_written_one_record_a_line() -> None:
    for line in (FOLDER / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line)) == ["prompt", "chosen", "rejected"]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))
