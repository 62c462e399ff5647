"""The gate: whatever metric a pipeline names, judged by the gain's whole interval."""

from __future__ import annotations

import pytest

from contracts.errors import ContractBroken
from contracts.pipeline import Gate
from lambdas.logic.gate import judge

COUNTED = {
    "accuracy": "pairs",
    "label_accuracy": "comparisons",
    "likelihood": "held_out_good",
    "success_rate": "episodes",
    "mean_reward": "episodes",
}


def gate(metric: str, min_gain: float = 0.0) -> Gate:
    return Gate.model_validate({"metric": metric, "min_gain": min_gain})


def figures(metric: str, low: float) -> dict[str, float]:
    return {
        f"start_{metric}": 0.25,
        f"end_{metric}": 0.75,
        "gain": 0.5,
        "gain_low": low,
        "gain_high": 0.625,
        COUNTED[metric]: 1024.0,
    }


@pytest.mark.parametrize("metric", COUNTED)
@pytest.mark.parametrize(
    ("low", "asked", "passed"), [(0.1, 0.0, True), (0.0, 0.0, False), (0.1, 0.2, False)]
)
def test_a_candidate_passes_only_when_the_whole_interval_is_above_the_gate(
    metric: str, low: float, asked: float, passed: bool
) -> None:
    assert judge(gate(metric, asked), figures(metric, low)).passed is passed


@pytest.mark.parametrize(
    ("metric", "cases"),
    [
        ("accuracy", "1024 held-out pairs"),
        ("label_accuracy", "1024 comparisons of a good with a bad held-out episode"),
        ("likelihood", "1024 good held-out episodes"),
        ("success_rate", "1024 episodes on held-out seeds"),
        ("mean_reward", "1024 episodes on held-out seeds"),
    ],
)
def test_the_reason_names_metric_figures_cases_and_the_gate(metric: str, cases: str) -> None:
    reason = judge(gate(metric), figures(metric, 0.4)).reason
    assert reason == (
        f"{metric} 0.250 to 0.750 over {cases}, gain +0.500 [+0.400, +0.625]: "
        "above the gate's +0.000"
    )


@pytest.mark.parametrize("metric", COUNTED)
@pytest.mark.parametrize("place", range(6))
def test_a_figure_that_was_not_reported_is_named(metric: str, place: int) -> None:
    given = figures(metric, 0.1)
    name = list(given)[place]
    del given[name]
    with pytest.raises(ContractBroken, match=f"reported no {name};"):
        judge(gate(metric), given)


def test_figures_of_another_metric_do_not_count() -> None:
    with pytest.raises(ContractBroken, match="start_mean_reward, end_mean_reward"):
        judge(gate("mean_reward"), figures("success_rate", 0.1))


@pytest.mark.parametrize("metric", ["accuracy", "label_accuracy", "likelihood"])
def test_a_gate_that_leaves_its_metric_open_judges_by_the_one_that_was_found(metric: str) -> None:
    assert judge(gate("auto"), figures(metric, 0.1)).reason.startswith(f"{metric} 0.250 to 0.750")


def test_of_two_metrics_an_open_gate_judges_by_the_one_that_the_gain_is_of() -> None:
    shown_beside = {"start_likelihood": -4.0, "end_likelihood": -3.0, "held_out_good": 5.0}
    judged = judge(gate("auto"), shown_beside | figures("label_accuracy", 0.1))
    assert judged.reason.startswith("label_accuracy 0.250")


def test_an_open_gate_judges_by_the_later_metric_where_the_earlier_is_only_shown_beside() -> None:
    shown_beside = {"start_label_accuracy": 0.5, "end_label_accuracy": 1.0, "comparisons": 9.0}
    beside = shown_beside | {"label_accuracy_gain": 0.5}
    judged = judge(gate("auto"), beside | figures("likelihood", 0.1))
    assert judged.passed
    assert judged.reason.startswith("likelihood 0.250")


def test_an_open_gate_without_any_metric_says_what_it_needs() -> None:
    with pytest.raises(ContractBroken, match="reported no start_accuracy, end_accuracy, gain"):
        judge(gate("auto"), {})


@pytest.mark.parametrize(("tasks", "words"), [(0, "0 tasks"), (1, "1 task,"), (2, "2 tasks,")])
@pytest.mark.parametrize("metric", ["accuracy", "label_accuracy", "likelihood"])
def test_a_gain_without_bounds_is_kept_whatever_the_gate_asks(
    metric: str, tasks: int, words: str
) -> None:
    found = figures(metric, 0.4) | {"judged_tasks": float(tasks)}
    del found["gain_low"], found["gain_high"]
    judged = judge(gate(metric, -1.0), found)
    assert not judged.passed
    assert f"gain +0.500: they are of {words}" in judged.reason


def test_a_bound_that_is_lost_is_no_gain_without_bounds() -> None:
    found = figures("accuracy", 0.4) | {"judged_tasks": 9.0}
    del found["gain_high"]
    with pytest.raises(ContractBroken, match="reported no gain_high;"):
        judge(gate("accuracy"), found)
