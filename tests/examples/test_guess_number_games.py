"""The logged games: the same bytes again, the environment's own words and rewards."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from whole_files import read_file

from contracts.pipeline import Pipeline
from training.environments.guess_number import GuessNumber, chance
from training.environments.loading import load
from trajectories.trajectory import Trajectory
from trajectories.validating import validate

FOLDER = Path(__file__).parents[2] / "examples" / "guess-number"
GAMES = FOLDER / "games.jsonl"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("guess_number_maker", FOLDER / "make_games.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def games() -> tuple[Trajectory, ...]:
    return read_file(GAMES, name=GAMES.name).trajectories


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.model_validate(yaml.safe_load((FOLDER / "pipeline.yaml").read_text()))


def test_making_the_games_again_gives_the_same_bytes(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "make_games.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make_games.py"], check=True, capture_output=True)
    assert (tmp_path / "games.jsonl").read_bytes() == GAMES.read_bytes()


def test_every_game_is_usable_under_the_pipelines_rules(pipeline: Pipeline) -> None:
    verdict = validate(GAMES, name=GAMES.name, rules=pipeline.data, plays=True)
    assert (verdict.ok, verdict.format, verdict.rejected) == (True, "episode_logs", 0)
    assert verdict.demonstrations == verdict.records >= 2500
    assert verdict.training >= 1500
    assert verdict.held_out >= 50
    assert GAMES.stat().st_size < 1_000_000


def test_the_environment_says_and_rewards_what_the_logs_say(
    games: tuple[Trajectory, ...], pipeline: Pipeline
) -> None:
    assert pipeline.environment is not None
    environment = load(pipeline.environment)()
    for game in games:
        observation, _ = environment.reset(seed=0, task=int(game.task))
        reward, over = 0.0, False
        for place, turn in enumerate(game.messages):
            assert (turn.role == "assistant") == bool(place % 2)
            if turn.role != "assistant":
                assert turn.content == observation
                continue
            assert not over
            step = environment.step(turn.content)
            reward += step.reward
            observation, over = step.observation, step.terminated
        assert over
        assert game.messages[-1].role == "assistant"
        assert reward == pytest.approx(game.reward)


def test_the_play_is_mixed_and_leaves_a_lot_to_learn(games: tuple[Trajectory, ...]) -> None:
    solved = [game.reward > 0 for game in games]
    assert 0.5 < sum(solved) / len(solved) <= 0.65
    turns = [turn.content for game in games for turn in game.play if turn.role == "assistant"]
    bad = [word for word in turns if not re.fullmatch(r"[1-9]|1[0-6]", word)]
    assert 0.01 < len(bad) / len(turns) < 0.03
    assert max(Counter(game.task for game in games).values()) == len(games) / 16


def test_no_game_comes_twice(games: tuple[Trajectory, ...]) -> None:
    assert len({game.id for game in games}) == len(games)


@pytest.mark.parametrize(
    ("player", "least", "most"),
    [("uniform", 0.25, 0.29), ("consistent", 0.73, 0.78), ("halving", 0.80, 0.85)],
)
def test_each_player_is_as_good_as_the_readme_says(
    maker: ModuleType, player: str, least: float, most: float
) -> None:
    pick = maker.Picker(player)
    plays = [maker.play(pick, maker.PLAYERS[player], 1 + n % 16)[1] for n in range(4000)]
    assert least <= sum(reward > 0 for reward in plays) / 4000 <= most


def test_guessing_anything_is_what_the_environment_calls_chance(maker: ModuleType) -> None:
    pick = maker.Picker("chance")
    plays = [maker.play(pick, maker.uniform, 1 + n % 16)[1] for n in range(8000)]
    share = sum(reward > 0 for reward in plays) / 8000
    assert share == pytest.approx(chance(16, 5) * 0.985, abs=0.02)
    assert GuessNumber().max_turns == maker.TURNS


def test_the_recipe_comments_every_field_it_gives() -> None:
    exempt = ("description", "seed", "gpus")
    for line in (FOLDER / "pipeline.yaml").read_text().splitlines():
        if re.match(r"^\s+(- )?\w+: \S", line) and not line.strip().startswith(exempt):
            assert " # " in line, line


def test_the_games_are_written_one_a_line() -> None:
    for line in GAMES.read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line)) == ["task_id", "trial", "reward", "traj"]
