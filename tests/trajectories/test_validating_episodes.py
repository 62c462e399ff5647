"""What `relay validate` says of logged episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from episode_files import logged, talk
from pair_files import lines, trl

from contracts.pipeline import DataRules
from trajectories.validating import Verdict, validate


def verdict(folder: Path, content: bytes, *, plays: bool | None, **rules: Any) -> Verdict:
    path = folder / "f.jsonl"
    path.write_bytes(content)
    return validate(path, name="f.jsonl", rules=DataRules(**rules), plays=plays)


def games(count: int) -> bytes:
    return lines(
        *(
            logged(n % 20, trial=n, reward=n % 3, traj=talk(f"task {n % 20}: 1-16", f"guess {n}"))
            for n in range(count)
        )
    )


@pytest.mark.parametrize("plays", [True, None])
def test_a_good_log_says_how_many_demonstrations_and_pairs_it_gives(
    tmp_path: Path, plays: bool | None
) -> None:
    found = verdict(tmp_path, games(60), plays=plays, pairs_per_task=100)
    assert found.ok
    assert found.reason == "60 of 60 records are usable"
    assert found.demonstrations == 60
    assert found.training + found.held_out == 60  # three of each of twenty tasks
    assert found.held_out > 0


def test_for_a_pipeline_of_pairs_only_the_pairs_count(tmp_path: Path) -> None:
    found = verdict(tmp_path, games(60), plays=False, pairs_per_task=100)
    assert found.ok
    assert found.demonstrations == 0
    assert found.training + found.held_out == 60  # three of each of twenty tasks


def test_episodes_that_cannot_be_paired_are_of_no_use_to_a_pipeline_of_pairs(
    tmp_path: Path,
) -> None:
    content = lines(*(logged(n) for n in range(5)))
    found = verdict(tmp_path, content, plays=False, learn_from="pairs")
    assert not found.ok
    assert "no two of 5 episodes are of one task" in found.reason
    assert "lower data.min_reward_gap" in found.remedy
    assert verdict(tmp_path, content, plays=True).ok


def test_a_log_without_a_usable_episode_says_so_by_its_first_problem(tmp_path: Path) -> None:
    found = verdict(tmp_path, lines(logged(reward=None)), plays=None)
    assert not found.ok
    assert found.reason == "no usable episode in 1 record; line 1, reward: is missing"
    assert found.remedy == "give the episode's reward as a number"


def test_pairs_without_a_pipeline_are_judged_as_pairs(tmp_path: Path) -> None:
    content = lines(*map(trl, range(50)))
    assert verdict(tmp_path, content, plays=None) == verdict(tmp_path, content, plays=False)
