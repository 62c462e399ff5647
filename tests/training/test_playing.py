"""`collect` in a round that plays: its artifact, its figures, and what comes of trouble."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from job_box import RUN, Box, recipe

from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.result import PhaseResult
from training.checkpoints.folders import folder_of, verify_folder
from training.environments.guess_number import GuessNumber
from training.phases import playing
from training.rollouts.actors import Lost, Played
from training.rollouts.episode import Episode
from training.rollouts.shelf import Shelf, read_rollouts
from training.rollouts.statistics import statistics

EPISODES = 20


def game(collect: dict[str, Any] | None = None, **environment: Any) -> dict[str, Any]:
    """What makes a pipeline of the box one that plays."""
    ppo = {"algorithm": "ppo", "iterations": 1, "episodes": 16}
    played = {"episodes": EPISODES} | (collect or {})
    return {
        "model": {
            "source": "tiny",
            "vocab_size": 320,
            "hidden_size": 16,
            "layers": 1,
            "heads": 2,
            "context": 96,
        },
        "rounds": [{"collect": played, "optimize": ppo}] * 2,
        "environment": {"max_turns": 5, "max_new_tokens": 4} | environment,
        "gate": {"metric": "success_rate"},
        "hardware": {"cpus": 2},
    }


def logs() -> bytes:
    """Games of halving, as people drop them."""
    lines = []
    for task in range(16):
        env = GuessNumber()
        said = [{"role": "user", "content": env.reset(seed=0, task=task)[0]}]
        low, high, reward, over = 1, 16, 0.0, False
        while not over:
            guess = (low + high) // 2
            step = env.step(str(guess))
            said.append({"role": "assistant", "content": str(guess)})
            reward, over = reward + step.reward, step.terminated
            if not over:
                said.append({"role": "user", "content": step.observation})
            low, high = (guess + 1, high) if step.observation == "higher" else (low, guess - 1)
        lines.append(json.dumps({"task": str(task), "reward": reward, "messages": said}))
    return "\n".join(lines).encode()


@pytest.fixture
def table(box: Box) -> Box:
    """A box whose pipeline plays, with its parts made small."""
    box.pipeline = recipe(**game())
    box.drop("games.jsonl", logs())
    box.plan()
    return box


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "PART", 8)


def rollouts_of(result: PhaseResult) -> list[Episode]:
    ref = result.artifacts["rollouts"]
    verify_folder(folder_of(ref), ref)
    return list(read_rollouts(folder_of(ref)))


def shelf_of(box: Box, round_: int = 1) -> Path:
    (found,) = (box.folder / RUN / f"{round_}-collect-checkpoints").glob("played-*")
    return found


def test_the_start_policy_plays_every_planned_episode_once(table: Box) -> None:
    result = table.finished("collect")
    assert set(result.artifacts) == {"episodes", "start", "initial", "rollouts"}
    assert result.artifacts["rollouts"].kind == "episodes"
    episodes = rollouts_of(result)
    assert [one.index for one in episodes] == list(range(EPISODES))
    assert sorted(one.task for one in episodes[:16]) == list(range(16))
    names = sorted(path.name for path in folder_of(result.artifacts["rollouts"]).iterdir())
    assert names == ["manifest.json", *(f"part-0000{number}.jsonl" for number in range(3))]


def test_the_result_tells_the_statistics(table: Box) -> None:
    result = table.finished("collect")
    figures = statistics(rollouts_of(result))
    assert figures["episodes"] == EPISODES
    assert {name: result.metrics[name] for name in figures} == pytest.approx(figures)
    assert result.metrics["usable"] == 16
    assert {"work: playing", "work: gathering"} <= set(result.seconds)


def test_progress_is_told_as_it_plays(table: Box) -> None:
    spec = table.job("collect", progress_interval_s=1e-9)
    assert table.run(spec) == 0
    progress = table.progress(spec)
    assert (progress.stage, progress.step, progress.steps) == ("Exporting the policy", 0, 0)
    events = list(replay(table, spec))
    assert [event.step for event in events] == [0, 8, 16, 20]
    assert {event.steps for event in events} == {20}
    assert set(events[-1].metrics) == {"success_rate", "mean_reward"}


def replay(box: Box, spec: JobSpec) -> Iterator[Any]:
    """The signs of life of playing once more, from nothing."""
    from training.assignment import read_assignment
    from training.events import Advance, Done
    from training.objects import Objects

    assignment = read_assignment(Objects(spec.bucket, box.client), spec)
    other = replace(assignment, spec=spec.model_copy(update={"workspace": spec.workspace + "-2"}))
    done = Done(artifacts=box.result(spec).artifacts)
    return (event for event in playing.and_play(other, done) if isinstance(event, Advance))


def test_a_later_round_plays_with_what_the_round_before_made(table: Box) -> None:
    first = table.finished("collect")
    inputs = {
        "episodes": first.artifacts["episodes"],
        "policy": first.artifacts["start"],
        "start": first.artifacts["start"],
    }
    spec = table.job("collect", inputs, round_=2)
    assert table.run(spec) == 0
    second = table.result(spec)
    assert set(second.artifacts) == {"episodes", "start", "parent", "rollouts"}
    seeds = [{one.seed for one in rollouts_of(result)} for result in (first, second)]
    assert len(seeds[0] | seeds[1]) == 2 * EPISODES


def test_a_round_that_does_not_play_has_no_rollouts(table: Box) -> None:
    rounds = game()["rounds"]
    del rounds[0]["collect"]
    table.pipeline = recipe(**game() | {"rounds": rounds[:1]})
    table.plan()
    result = table.finished("collect")
    assert set(result.artifacts) == {"episodes", "start", "initial"}
    assert "mean_reward" not in result.metrics


def test_drops_without_a_usable_game_are_no_data_and_nothing_is_played(box: Box) -> None:
    box.pipeline = recipe(**game())
    box.drop("empty.jsonl", b"")
    box.plan()
    result = box.finished("collect")
    assert (result.outcome, result.artifacts) == ("no_data", {})
    assert "mean_reward" not in result.metrics


def stop_after(monkeypatch: pytest.MonkeyPatch, parts: int, error: Exception) -> None:
    """Let so many parts be put on the shelf, and raise at the next."""
    put, count = Shelf.put, [0]

    def dying(self: Shelf, number: int, episodes: Any) -> None:
        count[0] += 1
        if count[0] > parts:
            raise error
        put(self, number, episodes)

    monkeypatch.setattr(Shelf, "put", dying)


def test_another_attempt_goes_on_where_one_was_cut_short(
    table: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rollouts_of(table.finished("collect"))
    table.folder = table.folder / "other"
    with monkeypatch.context() as patched:
        stop_after(patched, 2, OSError(28, "No space left on device"))
        spec = table.job("collect", attempt=2)
        assert table.run(spec) == 1
    spec = table.job("collect", attempt=3)
    assert table.run(spec) == 0
    result = table.result(spec)
    assert result.resumed_from == "16 episodes of an earlier attempt"
    assert rollouts_of(result) == whole
    assert result.metrics["episodes"] == EPISODES


def test_a_damaged_part_is_played_again(table: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rollouts_of(table.finished("collect"))
    part = shelf_of(table) / "00001" / "part-00001.jsonl"
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(bytes(data))
    spec = table.job("collect", attempt=2)
    assert table.run(spec) == 0
    assert table.result(spec).resumed_from == "12 episodes of an earlier attempt"
    assert rollouts_of(table.result(spec)) == whole


def test_another_policy_finds_nothing_of_an_earlier_ones_on_the_shelf(table: Box) -> None:
    first = rollouts_of(table.finished("collect"))
    table.pipeline = recipe(**game() | {"seed": 5})
    table.plan()
    spec = table.job("collect", attempt=2)
    assert table.run(spec) == 0
    result = table.result(spec)
    assert result.resumed_from == ""
    assert [one.seed for one in rollouts_of(result)] == [one.seed for one in first]
    assert [one.ids for one in rollouts_of(result)] != [one.ids for one in first]


def test_the_number_of_actors_is_not_what_episodes_depend_on(table: Box) -> None:
    table.finished("collect")
    table.pipeline = recipe(**game({"actors": 2}))
    table.plan()
    spec = table.job("collect", attempt=2)
    assert table.run(spec) == 0
    assert table.result(spec).resumed_from == "20 episodes of an earlier attempt"


def test_a_stop_keeps_what_was_played(table: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.assignment import Assignment, read_assignment
    from training.events import Done, Stopped
    from training.objects import Objects

    start: ArtifactRef = table.finished("collect").artifacts["start"]
    table.folder = table.folder / "other"
    spec = table.job("collect", attempt=2)
    assignment = read_assignment(Objects(spec.bucket, table.client), spec)
    mark = table.folder / "stop"
    monkeypatch.setattr(Assignment, "stop_mark", mark)
    events = playing.and_play(assignment, Done(artifacts={"start": start}))
    next(events)
    next(events)
    mark.touch()
    *_, last = events
    assert last == Stopped(8)
    assert sorted(place.name for place in shelf_of(table).iterdir()) == ["00000"]


def test_failed_episodes_are_counted_kept_and_told_of(
    table: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "played")
    table.pipeline = recipe(**game(path="played:Misbehaving"))
    table.plan()
    result = table.finished("collect")
    failed = [one for one in rollouts_of(result) if one.failed]
    assert {one.task % 4 for one in failed} == {0}
    assert result.metrics["failed"] == len(failed) > 0
    assert result.notes == (
        f"{len(failed)} of 20 episodes failed: ZeroDivisionError: of the environment "
        f"({len(failed)})",
    )


@pytest.mark.parametrize(
    ("settings", "error", "cause"),
    [
        (
            {"every": 1, "where": "guess"},
            "JobFailed",
            "20 of 20 episodes failed: ZeroDivisionError",
        ),
        ({"how": "nan"}, "JobFailed", "Misbehaving gave a reward of nan at episode"),
    ],
)
def test_rollouts_that_nothing_can_be_learnt_from_fail_the_job(
    table: Box, monkeypatch: pytest.MonkeyPatch, settings: Any, error: str, cause: str
) -> None:
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "played")
    table.pipeline = recipe(**game(path="played:Misbehaving", settings=settings))
    table.plan()
    spec = table.job("collect")
    assert table.run(spec) == 1
    failure = table.result(spec).failure
    assert failure is not None
    assert failure.error == error
    assert cause in failure.cause


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"path": "os:system"}, "environment.path: os is not allowed"),
        ({"path": "training.environments.nowhere:A"}, "cannot be imported"),
        ({"settings": {"turns": 0}}, "turns must be at least 1"),
        ({"max_turns": 8, "max_new_tokens": 11}, "model.context: 96 tokens are shorter than a"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_is(
    table: Box, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], cause: str
) -> None:
    def nothing(*_: object, **__: object) -> Iterator[Played | Lost | None]:
        raise AssertionError("something was played")

    monkeypatch.setattr(playing, "play_parts", nothing)
    settings = {"settings": {"turns": 8}} | changes if "max_turns" in changes else changes
    table.pipeline = recipe(**game(**settings))
    table.plan()
    spec = table.job("collect")
    assert table.run(spec) == 1
    failure = table.result(spec).failure
    assert failure is not None
    assert failure.error == "PipelineInvalid"
    assert cause in failure.cause
