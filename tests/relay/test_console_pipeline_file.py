"""A pipeline's file: what is taken, and every problem with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.pipeline import Pipeline
from relay.console.pipeline_file import FILE_BYTES_MAX, FileProblem, read_pipeline

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences" / "pipeline.yaml"
GOOD = """\
name: preferences
model:
  source: tiny
  layers: 2
rounds:
  - optimize:
      algorithm: dpo
      steps: 10
"""


def problems(text: str) -> list[FileProblem]:
    found = read_pipeline(text)
    assert isinstance(found, list), "it was taken"
    return found


def test_the_example_is_a_pipeline() -> None:
    found = read_pipeline(EXAMPLE.read_text())
    assert isinstance(found, Pipeline)
    assert found.name == "preferences"


def test_what_is_left_out_has_its_default() -> None:
    found = read_pipeline(GOOD)
    assert isinstance(found, Pipeline)
    assert found.attempts == 3


@pytest.mark.parametrize(
    ("change", "line", "field", "said"),
    [
        (("layers: 2", "layers: none"), 4, "model.layers", "valid integer"),
        (("layers: 2", "layers: 0"), 4, "model.layers", "not 0"),
        (("layers: 2", "layer: 2"), 4, "model.layer", "did you mean layers?"),
        (("steps: 10", "steps: 10\n      step: 3"), 9, "rounds.0.optimize.step", "not a field"),
        (("algorithm: dpo", "algorithm: sarsa"), 7, "rounds.0.optimize", "'ppo'"),
        (("name: preferences", "name: Preferences"), 1, "name", "pattern"),
        (("name: preferences", "description: x"), 1, "name", "is missing"),
        (("      algorithm: dpo\n", ""), 7, "rounds.0.optimize", "algorithm is missing"),
        (("source: tiny", "source: huge"), 3, "model", "huge"),
        (("layers: 2", "heads: 3"), 4, "model.heads", "divided by heads"),
        (("layers: 2", "layers: 2\n  layers: 3"), 5, "model.layers", "first on line 4"),
        (("layers: 2", "layers: !!int 2"), 4, "", "tags are not allowed"),
        (("layers: 2", "layers: !!python/object:os.system 2"), 4, "", "tags are not allowed"),
        (("layers: 2", "layers: &x 2"), 4, "", "anchors are not allowed"),
        (("layers: 2", "layers: [2"), 5, "", "not YAML"),
        (("layers: 2", "? [a]\n  : 2"), 4, "model", "plain text"),
    ],
)
def test_a_fault_is_named_by_line_and_field(
    change: tuple[str, str], line: int, field: str, said: str
) -> None:
    assert change[0] in GOOD
    found = problems(GOOD.replace(*change))
    assert any(one.line == line and one.field == field and said in one.problem for one in found), (
        found
    )


GAME = """\
name: game
gate: {metric: success_rate}
environment: {settings: {low: 1}}
rounds:
  - collect: {actors: 1}
    optimize:
    - algorithm: sft
    - algorithm: ppo
"""


@pytest.mark.parametrize(
    ("change", "line", "column", "field", "said"),
    [
        (("metric: success_rate", "min_gain: 0"), 2, 7, "gate.metric", "is accuracy for pairs"),
        (("gate: {metric: success_rate}\n", ""), 1, 1, "gate.metric", "is accuracy for pairs"),
        (("environment: {settings: {low: 1}}\n", ""), 4, 14, "rounds.0.collect", "need an env"),
        (("actors: 1", "actors: 9"), 5, 23, "rounds.0.collect.actors", "ask for 9 actors"),
        (("algorithm: sft", "algorithm: kto"), 7, 18, "rounds.0.optimize.0.algorithm", "kto and"),
        (("rounds:", "hardware: {learners: 2}\nrounds:"), 4, 22, "hardware.learners", "is 2, but"),
        (
            ("rounds:", "model: {source: tiny, context: 40}\nrounds:"),
            4,
            32,
            "model.context",
            "of 40 tokens is shorter than a game",
        ),
        (
            ("rounds:", "patience: {heartbeat_s: 140, timeout_s: 130}\nrounds:"),
            4,
            25,
            "patience.heartbeat_s",
            "must be less than timeout_s",
        ),
        (("ppo", "ppo\n      group_size: 7"), 8, 7, "rounds.0.optimize.1.episodes", "multiple"),
    ],
)
def test_fields_that_do_not_go_together_are_told_at_the_one_to_look_at(
    change: tuple[str, str], line: int, column: int, field: str, said: str
) -> None:
    assert isinstance(read_pipeline(GAME), Pipeline)
    assert change[0] in GAME
    (found,) = problems(GAME.replace(*change))
    assert (found.line, found.column, found.field) == (line, column, field), found
    assert found.problem.startswith(said) or said in found.problem


def test_steps_that_stand_alone_are_told_by_their_own_place() -> None:
    text = GOOD.replace("algorithm: dpo", "algorithm: ppo").replace("      steps: 10\n", "")
    (found,) = problems(text)
    assert (found.line, found.field) == (7, "rounds.0.optimize.algorithm")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (".nan", "input should be a finite number, a valid string or a valid boolean, not nan"),
        (
            "[1]",
            "input should be a valid integer, a valid number, a valid string or a valid boolean",
        ),
    ],
)
def test_a_setting_of_no_known_kind_is_one_problem(value: str, said: str) -> None:
    (found,) = problems(GAME.replace("low: 1", f"low: {value}"))
    assert (found.line, found.field) == (3, "environment.settings.low")
    assert found.problem == said


def test_all_faults_are_told_at_once_in_the_order_of_lines() -> None:
    text = GOOD.replace("layers: 2", "layers: 0\n  colour: red") + "atempts: 3\n"
    found = problems(text)
    assert [one.line for one in found] == [4, 5, 10]
    assert "did you mean attempts?" in found[-1].problem


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words\n", "# nothing\n"])
def test_a_file_that_is_no_mapping_is_refused_on_its_first_lines(text: str) -> None:
    (found,) = problems(text)
    assert found.line == 1
    assert "mapping" in found.problem


def test_two_documents_are_refused() -> None:
    assert "not YAML" in problems(GOOD + "---\n" + GOOD)[0].problem


def test_a_huge_file_is_not_read() -> None:
    assert "256 KiB" in problems(GOOD + "#" * FILE_BYTES_MAX)[0].problem


def test_a_bomb_of_aliases_is_refused_unexpanded() -> None:
    bomb = "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    assert all("not allowed" in one.problem for one in problems(bomb))


def test_a_problem_reads_as_a_compilers() -> None:
    problem = FileProblem(line=3, column=5, field="model.layers", problem="is missing")
    assert str(problem) == "3:5: model.layers: is missing"


@pytest.mark.parametrize("text", ["a: " + "[" * 5000 + "]" * 5000, "a: " + "{b: " * 5000])
def test_a_file_that_is_nested_too_deeply_is_refused(text: str) -> None:
    found = read_pipeline(text)
    assert isinstance(found, list)
    assert str(found[0]) == "1:1: it is nested too deeply"
