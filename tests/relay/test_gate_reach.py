"""What the gate could find on what is held out, and what the documents say of it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from control_planes import Relay

from contracts.pipeline import DataRules, Gate
from relay.console.gate_reach import (
    fewest_that_are_enough,
    fewest_that_can_pass,
    gain_needed,
    passes,
    reach,
)
from training.phases.measuring import Metric
from training.statistics.clusters import CLUSTERS_MIN, clustered_gain
from trajectories.labelling import Labelled
from trajectories.learnable import Learnable, learnable
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

FORMATS = Path(__file__).parents[2] / "docs" / "formats.md"
SHARE = 0.2
RULES = DataRules(learn_from="pairs")
DPO = "name: x\nrounds: [{optimize: {algorithm: dpo}}]\n"


def said(text: str) -> Message:
    return Message(role="assistant", content=text)


def pairs(count: int) -> Learnable:
    """As many pairs as are held out."""
    made = tuple(
        Pair.of((Message(role="user", content=f"q {n}"),), (said("good"),), (said("bad"),))
        for n in range(count)
    )
    return Learnable(made, made, (), kind="pairs")


@pytest.mark.parametrize("min_gain", [0.0, 0.05, 0.5, 0.9])
def test_the_fewest_cases_are_those_with_which_the_gate_passes_a_result(min_gain: float) -> None:
    gate = Gate(min_gain=min_gain)
    fewest = fewest_that_can_pass("accuracy", gate)
    assert fewest is not None
    assert passes(gate, fewest, 0.0)
    assert not passes(gate, fewest - 1, 0.0)


def test_no_number_of_cases_is_enough_for_a_gain_that_cannot_be() -> None:
    assert fewest_that_can_pass("accuracy", Gate(min_gain=1.0)) is None
    assert fewest_that_are_enough("accuracy", Gate(min_gain=0.5)) is None
    found = reach(pairs(50), Gate(min_gain=0.5), SHARE)
    assert found is not None
    assert "out of reach" in found.words


@pytest.mark.parametrize(
    ("held_out", "words"),
    [
        (1, "1 task with held-out pairs can show no gain, however good the policy"),
        (3, "3 tasks with held-out pairs can show only a gain to all right from at most 25% right"),
        (6, ""),
    ],
)
def test_what_few_pairs_can_show_is_said_in_a_sentence(held_out: int, words: str) -> None:
    found = reach(pairs(held_out), Gate(), SHARE)
    assert found is not None
    assert found.words.startswith(words)
    assert bool(found.words) == bool(words)


def test_pairs_of_one_task_count_once() -> None:
    task = (Message(role="user", content="play"),)
    episodes = [Trajectory.of("t", "", n / 4, (*task, said(f"a {n}"))) for n in range(5)]
    made = learnable([], episodes, RULES.model_copy(update={"held_out_share": 0.999}), plays=False)
    assert len(made.held_out) == 10
    found = reach(made, Gate(), SHARE)
    assert found is not None
    assert found.cases == 1
    assert found.words.startswith("1 task with held-out pairs can show no gain")


def labels(good: str, bad: str) -> Learnable:
    """Held-out episodes, one a letter, of the task that the letter names."""
    made = tuple(
        Labelled(Trajectory.of(task, str(trial), None, (said(f"{label} {trial}"),)), label)
        for label, tasks in ((True, good), (False, bad))
        for trial, task in enumerate(tasks)
    )
    return Learnable((), (), (), made, made, kind="labels")


@pytest.mark.parametrize(
    ("good", "bad", "metric", "cases"),
    [
        ("abcde", "fgh", "label_accuracy", 3),
        ("abcde", "fffgg", "likelihood", 5),
        ("ab", "fg", "label_accuracy", 2),
    ],
)
def test_an_open_gate_reaches_as_far_as_the_metric_that_evaluate_would_take(
    good: str, bad: str, metric: str, cases: int
) -> None:
    found = reach(labels(good, bad), Gate(), SHARE)
    assert found is not None
    assert (found.metric, found.cases) == (metric, cases)


def test_where_games_decide_or_nothing_is_held_out_nothing_is_said() -> None:
    nothing = Learnable((), (), (), kind="episodes")
    assert reach(nothing, Gate(metric="success_rate"), SHARE) is None
    assert reach(nothing._replace(kind="pairs"), Gate(), SHARE) is None


def test_a_handful_of_pairs_is_ok_and_what_they_could_show_is_said(relay: Relay) -> None:
    lines = [{"prompt": f"q {n}", "chosen": "good", "rejected": "bad"} for n in range(5)]
    Path("few.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    Path("dpo.yaml").write_text(DPO)
    command = ("validate", "few.jsonl", "--pipeline", "dpo.yaml")
    ended = relay(*command, "-o", "json")
    assert (ended.code, ended.json["ok"], ended.json["held_out"]) == (0, True, 1)
    assert ended.json["reach"]["cases"] < ended.json["reach"]["fewest"] == 3
    assert "1 task with held-out pairs can show no gain" in ended.json["reach"]["words"]
    assert "little to judge by" in relay(*command).out


def row(words: str) -> list[str]:
    line = next(one for one in FORMATS.read_text().splitlines() if one.startswith(f"| {words}"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def numbers(cell: str) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", cell)]


@pytest.mark.parametrize(("metric", "column"), [("accuracy", 0), ("label_accuracy", 1)])
def test_the_documents_say_how_many_answers_make_sense(metric: Metric, column: int) -> None:
    fewest, enough = fewest_that_can_pass(metric, Gate()), fewest_that_are_enough(metric, Gate())
    assert enough is not None
    assert numbers(row("with fewer")[column]) == [fewest]
    assert numbers(row("from half")[column]) == [enough, enough / SHARE]
    tenth = next(n for n in range(1, 1000) if passes(Gate(), n, 0.6, 0.7))
    assert numbers(row("from 60%")[column]) == [tenth, tenth / SHARE]


def test_the_documents_say_what_several_records_of_a_task_are_worth() -> None:
    (told,) = re.findall(
        r"of (\d+) pairs a\ntask, .* (\d+) tasks .* with (\d+) ", FORMATS.read_text()
    )
    each, fewest, enough = (int(one) for one in told)

    def gains(tasks: int, right: int) -> bool:
        of = [task for task in range(tasks) for _ in range(each)]
        return clustered_gain([one < right for one in of], [True] * len(of), of).low > 0

    assert next(n for n in range(1, 50) if gains(n, 0)) == fewest
    assert next(n for n in range(1, 50) if gains(n, math.ceil(n / 2))) == enough


def test_the_documents_say_how_many_good_answers_make_sense() -> None:
    enough = fewest_that_are_enough("likelihood", Gate())
    half = next(n for n in range(2, 100) if gain_needed(n) <= 0.5)
    assert numbers(row("with fewer")[2]) == [CLUSTERS_MIN]
    assert numbers(row("a gain as large")[2]) == [enough, (enough or 0) / SHARE]
    assert numbers(row("a gain of half")[2]) == [half, math.ceil(half / SHARE)]
