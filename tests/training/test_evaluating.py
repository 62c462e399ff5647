"""`evaluate`: the figures that the gate is judged by."""

import gc
import tracemalloc
from random import Random

import pytest
import torch
from job_box import BUCKET, Box, recipe
from sample_pairs import make_pairs, openai_file

from contracts.artifact import ArtifactRef
from contracts.pipeline import Gate
from lambdas.logic.gate import judge
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.logprobs import Scores
from training.assignment import read_assignment
from training.checkpoints.folders import folder_of
from training.objects import Objects
from training.phases import evaluate_pairs
from training.phases.verdict import compare
from trajectories.message import Message
from trajectories.pair import Pair

NAMES = {
    *("start_accuracy", "start_low", "start_high", "end_accuracy", "end_low", "end_high"),
    *("gain", "gain_low", "gain_high", "margin", "margin_low", "margin_high"),
    *("pairs", "judged_tasks", "implicit_accuracy"),
}


def scores(chosen: list[float], rejected: list[float], tokens: float = 2.0) -> Scores:
    sums = AnswerLogProbs(torch.tensor(chosen), torch.tensor(rejected))
    return Scores(sums, AnswerLogProbs(sums.chosen / tokens, sums.rejected / tokens))


def tasks_apart(count: int) -> list[str]:
    return [f"task {number}" for number in range(count)]


def test_the_figures_have_exactly_the_names_that_the_gate_reads() -> None:
    same = scores([-1.0, -2.0, -1.0], [-2.0, -1.0, -1.0])
    assert set(compare(same, same, tasks_apart(3))) == NAMES


def test_a_tie_is_not_a_win_and_no_change_is_no_gain() -> None:
    before = scores([-1.0, -3.0, -2.0], [-1.0, -2.0, -3.0])
    figures = compare(before, before, tasks_apart(3))
    assert figures["start_accuracy"] == figures["end_accuracy"] == pytest.approx(1 / 3)
    assert figures["gain"] == figures["margin"] == figures["implicit_accuracy"] == 0
    assert figures["gain_low"] < 0 < figures["gain_high"]


def test_pairs_of_one_task_make_wider_intervals_of_the_same_figures() -> None:
    draw = torch.Generator().manual_seed(0)
    before, after = (
        Scores(sums, sums)
        for sums in (AnswerLogProbs(*torch.randn(2, 15, generator=draw)) for _ in range(2))
    )
    was, now = (
        Scores(*(AnswerLogProbs(*(part.repeat(4) for part in side)) for side in one))
        for one in (before, after)
    )
    tasks = [str(task) for task in range(15)] * 4
    apart, together = compare(was, now, tasks_apart(60)), compare(was, now, tasks)
    once = compare(before, after, tasks_apart(15))
    for name in ("gain", "start_accuracy", "end_accuracy", "margin"):
        assert together[name] == pytest.approx(apart[name])
    for name in ("start", "end", "gain", "margin"):
        assert together[f"{name}_low"] < apart[f"{name}_low"]
        assert together[f"{name}_high"] > apart[f"{name}_high"]
        assert width(together, name) >= width(once, name) - 1e-6
    assert (together["pairs"], together["judged_tasks"]) == (60, 15)


def width(figures: dict[str, float], name: str) -> float:
    return figures[f"{name}_high"] - figures[f"{name}_low"]


@pytest.mark.parametrize("tasks", [["a"] * 9, ["a", "b", "b"] * 3])
def test_pairs_of_two_tasks_at_most_have_no_bounds_and_the_gate_keeps(tasks: list[str]) -> None:
    worse, better = scores([-2.0] * 9, [-1.0] * 9), scores([-1.0] * 9, [-2.0] * 9)
    figures = compare(worse, better, tasks)
    assert figures["gain"] == 1
    assert not [name for name in figures if name.endswith(("_low", "_high"))]
    verdict = judge(Gate(), figures)
    assert not verdict.passed
    assert "over 9 held-out pairs, gain +1.000: they are of " in verdict.reason
    assert "too few to know" in verdict.reason


def test_the_margin_is_how_much_more_the_candidate_prefers_the_chosen_answers() -> None:
    before, after = scores([-5.0, -5.0], [-5.0, -5.0]), scores([-4.0, -5.0], [-7.0, -4.0])
    figures = compare(before, after, tasks_apart(2))
    assert figures["margin"] == pytest.approx((3.0 - 1.0) / 2)
    assert figures["implicit_accuracy"] == 0.5
    assert figures["end_accuracy"] == 0.5


def test_accuracy_compares_means_not_sums() -> None:
    sums = AnswerLogProbs(torch.tensor([-6.0]), torch.tensor([-4.0]))
    means = AnswerLogProbs(torch.tensor([-1.0]), torch.tensor([-2.0]))
    figures = compare(Scores(sums, means), Scores(sums, means), tasks_apart(1))
    assert figures["end_accuracy"] == 1.0


def test_held_out_pairs_are_not_in_memory_while_they_are_judged(box: Box) -> None:
    """A hundred of over a thousand tokens each, eight bytes a token and more."""
    box.pipeline = recipe(
        model={"source": "tiny", "vocab_size": 300, "hidden_size": 16, "heads": 2, "context": 4000},
        data={"held_out_share": 0.5},
    )
    draw = Random(0)
    pairs = [
        Pair.of(
            [Message(role="user", content="".join(draw.choices("abcdefgh ", k=2_000)))],
            *([Message(role="assistant", content=said)] for said in ("Friday.", "Wait.")),
        )
        for _ in range(200)
    ]
    box.drop("pairs.jsonl", openai_file(pairs))
    box.plan()
    artifacts = box.finished("collect").artifacts
    spec = box.job("evaluate", {**artifacts, "policy": artifacts["start"]})
    assignment = read_assignment(Objects(BUCKET, box.client), spec)
    assignment.folder.mkdir(parents=True)
    materials = {
        "episodes": folder_of(artifacts["episodes"]),
        "candidate": folder_of(artifacts["start"]),
    }
    evaluate_pairs._held_out(assignment, materials)
    tracemalloc.start()
    held_out, tasks, _, _ = evaluate_pairs._held_out(assignment, materials)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(held_out) == len(tasks) > 80
    assert min(pair.length for pair in held_out) > 500
    assert held < 500_000


def test_a_candidate_that_learnt_is_better_on_pairs_it_never_saw(box: Box) -> None:
    box.pipeline = recipe(
        data={"held_out_share": 0.4},
        optimize={"steps": 40, "learning_rate": 0.01, "chosen_nll_weight": 0.2},
    )
    box.drop("pairs.jsonl", openai_file(make_pairs(80)))
    box.plan()
    artifacts: dict[str, ArtifactRef] = dict(box.finished("collect").artifacts)
    inputs = {name: artifacts[name] for name in ("episodes", "start")}
    artifacts |= box.finished("optimize", inputs).artifacts
    result = box.finished("evaluate", artifacts)
    assert result.artifacts == {}
    assert set(result.metrics) >= NAMES
    assert result.metrics["end_accuracy"] > 0.95
    assert result.metrics["end_accuracy"] >= result.metrics["start_accuracy"]
    assert result.metrics["margin_low"] > 0
    assert result.metrics["pairs"] > 15
