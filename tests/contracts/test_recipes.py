"""Which recipes make sense: what their steps learn from, and what a gate can judge by."""

from typing import Any

import pytest

from contracts.pipeline import DataRules, Pipeline

WORLD = {"path": "training.environments.guess_number:GuessNumber"}


def recipe(*algorithms: str, **changes: Any) -> Pipeline:
    steps = [{"algorithm": algorithm} for algorithm in algorithms]
    return Pipeline.model_validate({"name": "p", "rounds": [{"optimize": steps}]} | changes)


@pytest.mark.parametrize(
    ("steps", "learn_from"),
    [
        (["dpo"], "pairs"),
        (["sft", "dpo"], "pairs"),
        (["kto"], "labels"),
        (["sft", "kto"], "labels"),
        (["auto", "kto"], "labels"),
        (["auto"], "auto"),
        (["sft"], "auto"),
    ],
)
def test_steps_settle_what_is_learnt_from_where_they_leave_no_choice(
    steps: list[str], learn_from: str
) -> None:
    made = recipe(*steps)
    assert made.learning_rules.learn_from == learn_from
    assert made.data == DataRules()
    assert made.algorithms == set(steps)


def test_what_a_recipe_says_itself_holds() -> None:
    rules = {"learn_from": "labels", "good_reward": 0.9}
    assert recipe("auto", data=rules).learning_rules.learn_from == "labels"
    assert recipe("sft", data=rules).learning_rules.good_reward == 0.9


def test_a_recipe_of_pairs_without_a_gate_is_what_it_always_was() -> None:
    made = recipe("dpo")
    assert (made.gate.metric, made.gate.min_gain) == ("auto", 0.0)
    assert recipe("dpo", gate={"metric": "accuracy"}).gate.metric == "accuracy"


@pytest.mark.parametrize(
    ("steps", "changes", "words"),
    [
        (["ppo"], {}, "learn by ppo need an environment"),
        (["dpo", "kto"], {}, "dpo learns from pairs and kto from labels"),
        (["dpo"], {"data": {"learn_from": "labels"}}, "learn_from is labels.*learns by dpo"),
        (["kto"], {"data": {"learn_from": "pairs"}}, "learn_from is pairs.*learns by kto"),
        (["dpo"], {"gate": {"metric": "likelihood"}}, "likelihood.*give auto or accuracy"),
        (["kto"], {"gate": {"metric": "accuracy"}}, "give auto or label_accuracy or likelihood"),
        (["sft"], {"gate": {"metric": "mean_reward"}}, "for an environment"),
        (["kto"], {"environment": WORLD, "gate": {"metric": "success_rate"}}, "without an env"),
        (["auto"], {"environment": WORLD, "gate": {"metric": "success_rate"}}, "without an env"),
        (["sft"], {"environment": WORLD}, "gate.metric is accuracy for pairs"),
    ],
)
def test_a_recipe_that_contradicts_itself_is_refused_in_words(
    steps: list[str], changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        recipe(*steps, **changes)


@pytest.mark.parametrize("metric", ["auto", "accuracy", "label_accuracy", "likelihood"])
def test_a_recipe_that_leaves_its_data_open_may_name_any_of_their_metrics(metric: str) -> None:
    assert recipe("auto", gate={"metric": metric}).gate.metric == metric


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_good_reward_is_a_number(value: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        DataRules(good_reward=float(value))
