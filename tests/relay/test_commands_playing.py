"""The commands on recipes that play: environments are looked at before they are registered."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from contracts.pipeline import Environment
from relay.__main__ import main
from relay.commands.invocation import Invocation
from relay.console.environment_checking import check
from relay.console.pipeline_file import problem_of
from relay.console.registering import Applied

EXAMPLE = Path(__file__).parents[2] / "examples" / "guess-number"
RECIPE = (EXAMPLE / "pipeline.yaml").read_text()
PATH = "training.environments.guess_number:GuessNumber"


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Relay = Callable[..., Ended]


@pytest.fixture
def relay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Relay:
    """Run the command line; how it ended and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["relay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    return run


def recipe(old: str, new: str) -> str:
    assert old in RECIPE
    Path("recipe.yaml").write_text(RECIPE.replace(old, new, 1))
    return "recipe.yaml"


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(RECIPE.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        (PATH, "training.environments.nowhere:X", "path:", "environment.path", "cannot be import"),
        (PATH, PATH.replace(":Guess", ":Miss"), "path:", "environment.path", "is no class of"),
        ("numbers: 16", "numbers: 1", "numbers:", "environment.settings", "does not take"),
        ("numbers: 16", "sides: 6 ", "numbers:", "environment.settings", "does not take"),
    ],
)
def test_an_environment_that_cannot_be_made_is_refused_by_line_and_field(
    relay: Relay, old: str, new: str, line: str, field: str, words: str
) -> None:
    file = recipe(old, new)
    ended = relay("pipelines", "apply", file, "--dry-run", "-o", "json")
    assert ended.code == 1
    (problem,) = ended.json["problems"]
    assert (problem["line"], problem["field"]) == (line_of(line), field)
    assert words in problem["problem"]
    assert f"recipe.yaml:{line_of(line)}:" in ended.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("actors: 2 ", "actors: 3 ", "rounds ask for 3 actors, hardware.cpus is 2"),
        ("context: 64 ", "context: 32", "max_turns 5 times max_new_tokens 4"),
        ("        epochs: 2 ", "        group_size: 3\n        epochs: 2 ", "multiple of group"),
        ("metric: success_rate", "metric: accuracy", "gate.metric is accuracy for pairs"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_any_job(
    relay: Relay, old: str, new: str, words: str
) -> None:
    if new.startswith("context"):
        Path("recipe.yaml").write_text(
            RECIPE.replace(old, new).replace("max_new_tokens: 4", "max_new_tokens: 6")
        )
        words = "max_turns 5 times max_new_tokens 6"
    else:
        recipe(old, new)
    ended = relay("pipelines", "apply", "recipe.yaml", "--dry-run", "-o", "json")
    assert ended.code == 1
    assert any(words in f"{one['field']} {one['problem']}" for one in ended.json["problems"])


def test_the_environment_of_others_need_not_be_on_this_machine(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[Any] = []

    def register(pipeline: Any, plane: Any, *, dry_run: bool) -> Applied:
        registered.append(pipeline)
        return Applied(
            name=pipeline.name, outcome="registered", dry_run=dry_run, version="0" * 64, changes=()
        )

    monkeypatch.setattr("relay.console.registering.apply", register)
    monkeypatch.setattr(Invocation, "plane", None)
    ended = relay("pipelines", "apply", recipe(PATH, "of.others:Game"), "-o", "json")
    assert ended.code == 0
    assert registered[0].environment.path == "of.others:Game"
    assert "of.others is not allowed" in ended.err
    assert "the job will look again" in ended.err


def test_what_is_certain_is_that_relays_own_environments_are_the_same_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert check(Environment()) is None
    ours = check(Environment(path="training.environments.nowhere:X"))
    assert ours is not None
    assert (ours.field, ours.certain) == ("environment.path", True)
    monkeypatch.setenv("RELAY_ENVIRONMENTS", "of.others")
    theirs = check(Environment(path="of.others:Game"))
    assert theirs is not None
    assert (theirs.field, theirs.certain) == ("environment.path", False)


def test_a_field_that_the_file_leaves_out_gets_the_place_of_its_nearest_part() -> None:
    text = "name: a\nenvironment:\n  max_turns: 3\n"
    assert problem_of(text, "environment.max_turns", "x").line == 3
    assert problem_of(text, "environment.path", "x").line == 3
    assert problem_of("name: a\n", "environment.path", "x").line == 1


def test_the_example_says_what_it_would_be_learnt_from(relay: Relay) -> None:
    games, pipeline = str(EXAMPLE / "games.jsonl"), str(EXAMPLE / "pipeline.yaml")
    found = relay("validate", games, "--pipeline", pipeline, "-o", "json")
    assert found.code == 0
    assert found.json["demonstrations"] == found.json["records"] == found.json["usable"]
    assert found.json["training"] > 1000
    drawn = relay("validate", games, "--pipeline", pipeline).out
    assert "episode_logs" in drawn
    assert "2,960 episodes and" in drawn


def test_without_a_pipeline_a_log_is_taken_for_one_that_plays(relay: Relay) -> None:
    found = relay("validate", str(EXAMPLE / "games.jsonl"), "-o", "json").json
    assert found["demonstrations"] == found["records"]
