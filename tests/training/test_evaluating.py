"""`evaluate`: the figures that the gate is judged by."""

import pytest
import torch
from job_box import Box, recipe
from sample_pairs import make_pairs, openai_file

from contracts.artifact import ArtifactRef
from training.algorithms.dpo import AnswerLogProbs
from training.algorithms.logprobs import Scores
from training.phases.verdict import compare
from training.statistics.overlaps import Comparison, independent_count

NAMES = {
    *("start_accuracy", "start_low", "start_high", "end_accuracy", "end_low", "end_high"),
    *("gain", "gain_low", "gain_high", "margin", "margin_low", "margin_high"),
    *("pairs", "implicit_accuracy"),
}


def scores(chosen: list[float], rejected: list[float], tokens: float = 2.0) -> Scores:
    sums = AnswerLogProbs(torch.tensor(chosen), torch.tensor(rejected))
    return Scores(sums, AnswerLogProbs(sums.chosen / tokens, sums.rejected / tokens))


def test_the_figures_have_exactly_the_names_that_the_gate_reads() -> None:
    same = scores([-1.0, -2.0], [-2.0, -1.0])
    assert set(compare(same, same)) == NAMES


def test_a_tie_is_not_a_win_and_no_change_is_no_gain() -> None:
    before = scores([-1.0, -3.0, -2.0], [-1.0, -2.0, -3.0])
    figures = compare(before, before)
    assert figures["start_accuracy"] == figures["end_accuracy"] == pytest.approx(1 / 3)
    assert figures["gain"] == figures["margin"] == figures["implicit_accuracy"] == 0
    assert figures["gain_low"] < 0 < figures["gain_high"]


@pytest.mark.parametrize(
    ("edges", "once", "twice"),
    [
        ("ab cd ef", 3, 6),
        ("ab ac ad", 1, 2),
        ("ac ad bc bd", 2, 4),
        ("ab bc", 1, 4 / 3),
        ("ab bc cd de ef fg gh hi ij jk kl lm", 4, 8),
    ],
)
def test_pairs_that_share_episodes_are_worth_as_many_as_share_none(
    edges: str, once: float, twice: float
) -> None:
    group = [Comparison("t", better, worse) for better, worse in edges.split()]
    assert independent_count(group) == pytest.approx(once)
    other = [one._replace(group="u") for one in group]
    assert independent_count([*group, *other]) == pytest.approx(twice)


def test_fewer_independent_pairs_make_wider_intervals_of_the_same_figures() -> None:
    draw = torch.Generator().manual_seed(0)
    before, after = (
        Scores(sums, sums)
        for sums in (AnswerLogProbs(*torch.randn(2, 60, generator=draw)) for _ in range(2))
    )
    all_of_them, few = compare(before, after), compare(before, after, independent=12)
    assert compare(before, after, independent=60) == all_of_them
    for name in ("gain", "start_accuracy", "end_accuracy", "pairs"):
        assert few[name] == pytest.approx(all_of_them[name])
    for name in ("start", "end", "gain"):
        assert few[f"{name}_low"] < all_of_them[f"{name}_low"]
        assert few[f"{name}_high"] > all_of_them[f"{name}_high"]


def test_the_margin_is_how_much_more_the_candidate_prefers_the_chosen_answers() -> None:
    before, after = scores([-5.0, -5.0], [-5.0, -5.0]), scores([-4.0, -5.0], [-7.0, -4.0])
    figures = compare(before, after)
    assert figures["margin"] == pytest.approx((3.0 - 1.0) / 2)
    assert figures["implicit_accuracy"] == 0.5
    assert figures["end_accuracy"] == 0.5


def test_accuracy_compares_means_not_sums() -> None:
    sums = AnswerLogProbs(torch.tensor([-6.0]), torch.tensor([-4.0]))
    means = AnswerLogProbs(torch.tensor([-1.0]), torch.tensor([-2.0]))
    figures = compare(Scores(sums, means), Scores(sums, means))
    assert figures["end_accuracy"] == 1.0


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
