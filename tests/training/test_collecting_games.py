"""`collect` in a pipeline that plays: logged games become demonstrations and pairs."""

from __future__ import annotations

import random
from typing import Any

import pytest
from job_box import Box
from sample_games import DPO, PPO, SFT, games_file, make_games, playing_recipe
from sample_pairs import make_pairs, openai_file

from contracts.artifact import ArtifactRef
from contracts.result import PhaseResult
from training.checkpoints.folders import folder_of, verify_folder
from training.episodes.artifact import HELD_OUT, TRAIN, demonstrations_in, pairs_in
from trajectories.message import plain


def collected(box: Box, *files: bytes, **changes: Any) -> PhaseResult:
    box.pipeline = playing_recipe(**changes)
    for number, data in enumerate(files):
        box.drop(f"{number}.jsonl", data)
    box.plan()
    return box.finished("collect")


def refused(box: Box, *files: bytes, **changes: Any) -> tuple[str, str]:
    box.pipeline = playing_recipe(**changes)
    for number, data in enumerate(files):
        box.drop(f"{number}.jsonl", data)
    box.plan()
    spec = box.job("collect")
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    return failure.error, failure.cause


def test_every_game_is_a_demonstration_and_games_of_one_number_make_pairs(box: Box) -> None:
    games = make_games(80)
    result = collected(box, games_file(games))
    folder = folder_of(result.artifacts["episodes"])
    verify_folder(folder, result.artifacts["episodes"])
    demonstrations = list(demonstrations_in(folder))
    assert sorted(int(one.trial) for one in demonstrations) == list(range(80))
    by_trial = {int(one.trial): one for one in demonstrations}
    for game in games:
        one = by_trial[game["trial"]]
        assert (one.task, one.reward) == (str(game["task_id"]), game["reward"])
        assert plain(one.messages) == game["traj"]
    train, held_out = list(pairs_in(folder, TRAIN)), list(pairs_in(folder, HELD_OUT))
    assert 0 < len(held_out) < len(train)
    assert {pair.prompt[0].content for pair in [*train, *held_out]} == {"1-4"}
    assert result.metrics["demonstrations"] == 80
    assert result.metrics["train_pairs"] == len(train)
    mean = sum(game["reward"] for game in games) / 80
    assert result.metrics["demonstrations_mean_reward"] == pytest.approx(mean)


def test_the_order_of_drops_and_records_does_not_matter_to_a_byte(box: Box) -> None:
    games = make_games(60)
    box.pipeline = playing_recipe()
    digests = []
    for attempt, seed in ((1, 1), (2, 2)):
        box.drops.clear()
        mixed = random.Random(seed).sample(games, 60)
        box.drop("a.jsonl", games_file(mixed[:10]))
        box.drop("b.jsonl", games_file(mixed[5:]))
        box.plan()
        spec = box.job("collect", attempt=attempt)
        assert box.run(spec) == 0
        artifacts = box.result(spec).artifacts
        digests.append((artifacts["episodes"].manifest, artifacts["start"].manifest))
        assert box.result(spec).metrics["usable"] == 65
        assert box.result(spec).metrics["demonstrations"] == 60
    assert digests[0] == digests[1]


def test_the_first_tokenizer_knows_the_games_words(box: Box) -> None:
    result = collected(box, games_file(make_games(40)))
    from training.models.folders import load_tokenizer

    tokenizer = load_tokenizer(folder_of(result.artifacts["start"]))
    ids = tokenizer(["higher", "lower"], add_special_tokens=False, verbose=False)
    assert [len(one) for one in ids["input_ids"]] == [1, 1]


def test_pairs_dropped_beside_games_are_learnt_from_too(box: Box) -> None:
    pairs = make_pairs(20)
    result = collected(box, games_file(make_games(40)), openai_file(pairs))
    folder = folder_of(result.artifacts["episodes"])
    found = {pair.id for name in (TRAIN, HELD_OUT) for pair in pairs_in(folder, name)}
    assert {pair.id for pair in pairs} <= found
    assert len(list(demonstrations_in(folder))) == 40


def test_a_pipeline_of_pairs_learns_from_games_by_their_pairs(box: Box) -> None:
    games = make_games(400)
    for number, game in enumerate(games):
        game["task_id"] = number % 20
        game["traj"][0]["content"] += f" no. {number % 20}"
    box.drop("games.jsonl", games_file(games))
    box.plan()
    result = box.finished("collect")
    folder = folder_of(result.artifacts["episodes"])
    train, held_out = list(pairs_in(folder, TRAIN)), list(pairs_in(folder, HELD_OUT))
    assert train
    assert held_out
    assert not {pair.prompt for pair in train} & {pair.prompt for pair in held_out}
    assert list(demonstrations_in(folder)) == []


def test_games_that_cannot_be_compared_are_no_data_to_a_pipeline_of_pairs(box: Box) -> None:
    box.drop("games.jsonl", games_file([game | {"reward": 1} for game in make_games(8)]))
    box.plan()
    result = box.finished("collect")
    assert result.outcome == "no_data"
    assert "no two episodes of one task differ enough" in result.notes[0]
    assert result.objects[0].usable == 8


def test_a_bad_game_is_reported_by_its_line_and_the_rest_is_taken(box: Box) -> None:
    games = make_games(40)
    games[7] = {**games[7], "reward": None}
    result = collected(box, games_file(games))
    (report,) = result.objects
    assert (report.format, report.records, report.usable) == ("episode_logs", 40, 39)
    assert [(problem.line, problem.field) for problem in report.problems] == [(8, "reward")]


def test_sft_without_a_usable_episode_is_refused_by_name(box: Box) -> None:
    error, cause = refused(box, openai_file(make_pairs(40)))
    assert error == "DataUnusable"
    assert "learns by sft, but no dropped episode is usable" in cause


def test_dpo_without_pairs_is_refused_by_name(box: Box) -> None:
    alike = [game | {"reward": 1.0} for game in make_games(8)]
    error, cause = refused(box, games_file(alike), rounds=[{"optimize": [SFT, DPO]}])
    assert error == "DataUnusable"
    assert "learns by dpo, but 8 episodes make only 0 pairs" in cause
    assert "lower data.min_reward_gap" in cause


def test_without_dpo_no_pair_is_asked_for(box: Box) -> None:
    alike = [game | {"reward": 1.0} for game in make_games(8)]
    result = collected(box, games_file(alike), rounds=[{"optimize": [SFT]}])
    assert (result.outcome, result.metrics["train_pairs"]) == ("succeeded", 0)


def test_a_context_shorter_than_the_game_is_refused_with_field_and_need(box: Box) -> None:
    model = {"source": "tiny", "vocab_size": 300, "hidden_size": 16, "layers": 1, "heads": 2}
    games = make_games(40)
    games[0]["traj"][2:2] = [
        {"role": "user", "content": "that was not quite it, think again"},
        {"role": "assistant", "content": "3"},
    ]
    error, cause = refused(box, games_file(games), model=model | {"context": 32})
    assert error == "PipelineInvalid"
    assert "model.context: 32 tokens are shorter than a game of 3 turns" in cause


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"path": "os:PathLike"}, "environment.path: os is not allowed"),
        ({"path": "training.environments.nowhere:X"}, "cannot be imported"),
        ({"path": "training.environments.guess_number:Nobody"}, "is no class of"),
        ({"settings": {"numbers": 1}}, "environment.settings"),
    ],
)
def test_an_environment_that_cannot_be_made_is_refused_before_anything_is_read(
    box: Box, environment: dict[str, Any], words: str
) -> None:
    error, cause = refused(box, games_file(make_games(8)), environment=environment)
    assert error == "PipelineInvalid"
    assert words in cause
    assert not (box.folder / "drops").exists()


def test_the_next_round_gets_the_same_drops_and_the_policy_plays_if_told_to(box: Box) -> None:
    rounds = [
        {"optimize": [SFT, DPO]},
        {"collect": {"episodes": 8, "temperature": 1.0}, "optimize": PPO},
    ]
    first = collected(box, games_file(make_games(40)), rounds=rounds)
    inputs: dict[str, ArtifactRef] = {
        "episodes": first.artifacts["episodes"],
        "policy": first.artifacts["start"],
        "parent": first.artifacts["start"],
    }
    spec = box.job("collect", inputs, round_=2)
    assert box.run(spec) == 0, box.result(spec).failure
    result = box.result(spec)
    assert set(result.artifacts) == {"episodes", "start", "parent", "rollouts"}
    assert result.artifacts["episodes"] == first.artifacts["episodes"]
    assert result.metrics["episodes"] == 8
