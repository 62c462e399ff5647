"""Figures of labels: against counting by hand, and against what their intervals promise."""

import math
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from contracts.errors import DataUnusable
from contracts.pipeline import Gate
from lambdas.logic.gate import judge
from training.algorithms.logprobs import RowScores
from training.episodes.artifact import Contents
from training.phases.label_verdict import compare_labelled
from training.phases.measuring import LabelledTasks, metric_of
from training.statistics import comparisons
from training.statistics.comparisons import compare_separation

METRICS: tuple[Literal["label_accuracy", "likelihood"], ...] = ("label_accuracy", "likelihood")


def scores(*means: float) -> RowScores:
    values = torch.tensor(means)
    return RowScores(values * 3, values)


def test_a_good_episode_wins_where_its_mean_is_higher_and_a_tie_is_not_a_win() -> None:
    good = torch.tensor([True, True, True, False, False, False])
    before = scores(-1.0, -3.0, -2.0, -2.0, -1.0, -0.5)
    after = scores(-1.0, -1.5, -1.25, -2.0, -4.0, -1.25)
    found = compare_labelled(before, after, good, tuple("abcdef"), "label_accuracy")
    assert found["start_label_accuracy"] == pytest.approx(1 / 9)
    assert found["end_label_accuracy"] == pytest.approx(7 / 9)
    assert found["gain"] == pytest.approx(6 / 9)
    assert (found["comparisons"], found["judged_tasks"]) == (9, 3)
    assert found["start_likelihood"] == -2.0
    assert found["likelihood_gain"] == 0.75
    assert found["gain_low"] < 0 < found["gain"] <= found["gain_high"]


def test_the_likelihood_is_a_mean_over_good_episodes_with_students_interval() -> None:
    good = torch.tensor([True, True, True, False])
    before, after = scores(-3.0, -3.0, -3.0, -1.0), scores(-2.0, -1.0, -3.0, -9.0)
    found = compare_labelled(before, after, good, tuple("abca"), "likelihood")
    assert (found["start_likelihood"], found["end_likelihood"]) == (-3.0, -2.0)
    half = 4.3027 / math.sqrt(3)
    assert found["gain"] == pytest.approx(1.0)
    assert found["gain_low"] == pytest.approx(1.0 - half, abs=1e-4)
    assert found["gain_high"] == pytest.approx(1.0 + half, abs=1e-4)
    assert found["held_out_good"] == 3
    assert found["label_accuracy_gain"] == pytest.approx(1.0)


def test_good_ones_alone_have_a_likelihood_and_no_label_accuracy() -> None:
    good = torch.ones(3).bool()
    found = compare_labelled(scores(-3, -2, 0), scores(-2, -1, 1), good, "abc", "likelihood")
    assert "start_label_accuracy" not in found
    assert found["gain"] == found["gain_low"] == 1.0


def test_trials_of_one_task_prove_no_more_than_one_of_them_where_they_go_alike() -> None:
    draw = torch.Generator().manual_seed(3)
    before = torch.randn(24, generator=draw)
    after = before + torch.rand(24, generator=draw) * (torch.arange(24) % 2 * 2 - 0.5)
    good = torch.arange(24) % 2 == 1
    tasks = [str(number) for number in range(24)]
    for metric in METRICS:
        once = compare_labelled(
            RowScores(before, before), RowScores(after, after), good, tasks, metric
        )
        was, now = (RowScores(one.repeat(5), one.repeat(5)) for one in (before, after))
        many = compare_labelled(was, now, good.repeat(5), tasks * 5, metric)
        assert many["gain"] == pytest.approx(once["gain"])
        assert many["gain_high"] - many["gain_low"] >= once["gain_high"] - once["gain_low"] - 1e-6
        apart = compare_labelled(was, now, good.repeat(5), [str(n) for n in range(120)], metric)
        assert apart["gain_high"] - apart["gain_low"] < 0.7 * (many["gain_high"] - many["gain_low"])
        assert many["judged_tasks"] == 12


@pytest.mark.parametrize("metric", ["label_accuracy", "likelihood"])
def test_episodes_of_two_tasks_have_no_bounds_and_the_gate_keeps(
    metric: Literal["label_accuracy", "likelihood"],
) -> None:
    good = torch.tensor([True] * 6 + [False] * 6)
    tasks = [*"ababab", *"cdefgh"]
    before, after = scores(*[-3.0] * 6, *[-1.0] * 6), scores(*[-1.0] * 6, *[-3.0] * 6)
    found = compare_labelled(before, after, good, tasks, metric)
    assert found["gain"] in {1.0, 2.0}
    assert not [name for name in found if name.endswith(("_low", "_high"))]
    verdict = judge(Gate.model_validate({"metric": metric}), found)
    assert not verdict.passed
    assert verdict.reason.endswith(
        "they are of 2 tasks, too few to know if others would gain; drop episodes of more tasks"
    )


def test_a_kind_that_is_all_of_one_task_has_no_bounds_however_many_tasks_the_other_has() -> None:
    good = torch.tensor([True] * 8 + [False] * 5)
    tasks = [*"abcdefgh", *"zzzzz"]
    torch.manual_seed(0)
    gain = compare_separation(torch.rand(13), torch.rand(13), good, tasks).gain
    assert (gain.low, gain.high) == (-math.inf, math.inf)


values = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=12, max_size=12)


@given(values, values, st.integers(1, 11))
def test_every_good_case_is_compared_with_every_bad_one(
    first: list[float], second: list[float], goods: int
) -> None:
    good = torch.tensor([place < goods for place in range(12)])
    before, after = torch.tensor(first), torch.tensor(second)
    found = compare_separation(before, after, good, range(12))
    for interval, some in ((found.before, first), (found.after, second)):
        wins = sum(g > b for g in some[:goods] for b in some[goods:])
        assert interval.value == pytest.approx(wins / (goods * (12 - goods)))
        assert interval.low <= interval.value + 1e-9
        assert interval.value - 1e-9 <= interval.high
        assert min(goods, 12 - goods) < 3 or 0 <= interval.low <= interval.high <= 1
    assert found.gain.value == pytest.approx(found.after.value - found.before.value)
    assert found.gain.low <= found.gain.value + 1e-9
    assert found.gain.value - 1e-9 <= found.gain.high


def test_many_cases_are_compared_in_parts_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(0)
    before, after = torch.rand(40), torch.rand(40)
    good = torch.arange(40) % 2 == 0
    tasks = [number // 3 for number in range(40)]
    whole = compare_separation(before, after, good, tasks)
    monkeypatch.setattr(comparisons, "_ROWS", 3)
    parts = compare_separation(before, after, good, tasks)
    assert np.array(parts) == pytest.approx(np.array(whole))


def test_the_intervals_of_a_separation_hold_the_truth_at_least_as_often_as_they_say() -> None:
    """Two normal scores of which the second tells more: the true areas are Φ(d/√2)."""
    draw = np.random.default_rng(1)
    truth = [0.5 * (1 + math.erf(shift / 2)) for shift in (0.3, 1.2)]
    held = 0
    for _ in range(400):
        labels = torch.tensor([True] * 12 + [False] * 30)
        noise = draw.normal(size=(2, 42))
        noise[1] = 0.6 * noise[0] + 0.8 * noise[1]
        shifted = [noise[side] + labels.numpy() * (0.3, 1.2)[side] for side in (0, 1)]
        before, after = (torch.from_numpy(one) for one in shifted)
        gain = compare_separation(before, after, labels, range(42)).gain
        held += gain.low <= truth[1] - truth[0] <= gain.high
    assert held / 400 >= 0.95


def test_a_single_comparison_proves_nothing() -> None:
    before, after, good = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0]), _first_good()
    gain = compare_separation(before, after, good, "ab").gain
    assert gain.value == 1.0
    assert gain.low == -math.inf


def _first_good() -> Tensor:
    return torch.tensor([True, False])


def contents(kind: str, **counts: int) -> Contents:
    names = [name for name in Contents.model_fields if name not in {"kind", "why"}]
    known = {name: counts.get(name, 0) for name in names if name != "schema_version"}
    return Contents.model_validate({"kind": kind, "why": "because"} | known)


@pytest.mark.parametrize(
    ("made", "metric"),
    [
        (contents("pairs", held_out_pairs=9, held_out_good=9, held_out_bad=9), "accuracy"),
        (contents("labels", held_out_pairs=1, held_out_good=3, held_out_bad=1), "label_accuracy"),
        (contents("labels", held_out_good=2), "likelihood"),
    ],
)
def test_an_open_gate_takes_the_best_metric_that_the_data_allow(
    made: Contents, metric: str
) -> None:
    assert metric_of(Gate(), made) == metric


@pytest.mark.parametrize(
    ("good", "bad", "metric"),
    [
        ("abc", "abc", "label_accuracy"),
        ("abc", "aab", "likelihood"),
        ("abcd", "b", "likelihood"),
        ("aab", "abc", "label_accuracy"),
        ("aabb", "aa", "label_accuracy"),
        ("abc", "", "likelihood"),
    ],
)
def test_an_open_gate_passes_over_a_metric_that_cannot_be_known_for_one_that_can(
    good: str, bad: str, metric: str
) -> None:
    tasks = LabelledTasks.of([True] * len(good) + [False] * len(bad), good + bad)
    made = contents("labels", held_out_good=len(good), held_out_bad=len(bad))
    assert metric_of(Gate(), made, tasks) == metric


def test_a_gate_that_names_its_metric_keeps_it_however_few_the_tasks_are() -> None:
    made = contents("labels", held_out_good=9, held_out_bad=9)
    gate = Gate(metric="label_accuracy")
    assert metric_of(gate, made, LabelledTasks(good=9, bad=1)) == "label_accuracy"


def test_a_single_good_episode_is_no_reason_to_pass_its_comparisons_over() -> None:
    made = contents("labels", held_out_good=1, held_out_bad=9)
    assert metric_of(Gate(), made, LabelledTasks(good=1, bad=9)) == "label_accuracy"


@pytest.mark.parametrize(
    ("metric", "made", "words"),
    [
        ("auto", contents("labels", held_out_good=1), "1 episode is good and 0 bad, and 2 good"),
        ("auto", contents("pairs"), "no pair is held out"),
        ("accuracy", contents("labels", held_out_good=5), "gate.metric is accuracy, but no pair"),
        ("label_accuracy", contents("labels", held_out_good=5), "one good and one bad are needed"),
        ("likelihood", contents("labels", held_out_bad=5), "0 episodes are good and 5 bad"),
    ],
)
def test_data_that_give_no_metric_are_refused_in_words(
    metric: str, made: Contents, words: str
) -> None:
    with pytest.raises(DataUnusable, match=words):
        metric_of(Gate.model_validate({"metric": metric}), made)


@pytest.mark.parametrize(
    ("metric", "tasks"), [("label_accuracy", (9, 0)), ("label_accuracy", (0, 9)), ("auto", (1, 0))]
)
def test_episodes_that_say_nothing_are_nothing_to_judge_by(
    metric: str, tasks: tuple[int, int]
) -> None:
    made = contents("labels", held_out_good=9, held_out_bad=9)
    with pytest.raises(DataUnusable, match="drop episodes with answers"):
        metric_of(Gate.model_validate({"metric": metric}), made, LabelledTasks(*tasks))
