"""Players as they really run, as actors of a running Ray, and killed while they play."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from job_box import Box, recipe
from test_in_ray import cluster_box, ray_there, s3_there, step_of, wait_for
from test_playing import game, logs, rollouts_of

from contracts.job import JobSpec
from training.cluster import ThisProcess
from training.rollouts.episode import Episode

pytestmark = pytest.mark.ray
__all__ = ["cluster_box", "ray_there", "s3_there"]
EPISODES = 384
HERE = Path(__file__).parent
PATHS = ":".join(map(str, [HERE.parents[1], HERE, HERE.parent]))


@pytest.fixture(scope="module", autouse=True)
def waiting_is_allowed() -> Iterator[None]:
    """Ray's workers may play with the environment that takes its time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RELAY_ENVIRONMENTS", "played")
        patched.setenv("PYTHONPATH", PATHS)
        yield


@pytest.fixture
def table(cluster_box: Box) -> Box:
    """A planned pipeline whose two players take some seconds."""
    cluster_box.drops.clear()
    collect = {"episodes": EPISODES, "actors": 2}
    cluster_box.pipeline = recipe(**game(collect, path="played:Waiting"))
    cluster_box.drop("games.jsonl", logs())
    cluster_box.plan()
    return cluster_box


def started(box: Box, ray: dict[str, str], *, attempt: int = 1) -> tuple[JobSpec, Any]:
    """A collect as a process of its own."""
    spec = box.job("collect", attempt=attempt)
    return spec, box.start(spec, **ray | {"PYTHONPATH": PATHS, "RELAY_ENVIRONMENTS": "played"})


def players(ray: dict[str, str]) -> list[psutil.Process]:
    """The processes of this Ray that are actors at play."""
    found = []
    for one in psutil.process_iter():
        try:
            ours = one.environ().get("RAY_AUTH_TOKEN_PATH") == ray["RAY_AUTH_TOKEN_PATH"]
            if ours and "ray::Player" in " ".join(one.cmdline()):
                found.append(one)
        except psutil.Error:
            continue
    return found


def played_here(box: Box, monkeypatch: pytest.MonkeyPatch) -> list[Episode]:
    """What one player gives that nobody disturbs, in this process."""
    monkeypatch.setattr("training.attempt.join", ThisProcess)
    folder, box.folder = box.folder, box.folder / "undisturbed"
    spec = box.job("collect", attempt=9)
    assert box.run(spec) == 0
    episodes = rollouts_of(box.result(spec))
    box.folder = folder
    return episodes


def test_a_killed_player_loses_no_episode_and_repeats_none(
    table: Box, ray_there: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, process = started(table, ray_there)
    wait_for(lambda: step_of(table, spec) >= 64 or process.poll() is not None, 90)
    assert len(players(ray_there)) == 2
    players(ray_there)[0].kill()
    assert process.wait(90) == 0, table.result(spec).failure
    result = table.result(spec)
    assert result.metrics["episodes"] == EPISODES
    assert len(result.notes) == 1
    assert result.notes[0].startswith("a player died over episodes ")
    assert rollouts_of(result) == played_here(table, monkeypatch)
    wait_for(lambda: not players(ray_there), 15)


def test_a_killed_job_takes_its_players_along_and_the_next_attempt_goes_on(
    table: Box, ray_there: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, process = started(table, ray_there)
    wait_for(lambda: step_of(table, first) >= 64 or process.poll() is not None, 90)
    process.kill()
    process.wait()
    wait_for(lambda: not players(ray_there), 15)
    second, process = started(table, ray_there, attempt=2)
    assert process.wait(90) == 0, table.result(second).failure
    result = table.result(second)
    kept, _, rest = result.resumed_from.partition(" ")
    assert (int(kept) >= 64, rest) == (True, "episodes of an earlier attempt")
    assert rollouts_of(result) == played_here(table, monkeypatch)
