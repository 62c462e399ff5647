"""Pairs, labels, and the side of the split that a task is on."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from episode_files import episode, logged, talk
from form_files import chat, completion
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import lines, read, trl, turn

from contracts.pipeline import DataRules
from trajectories.choosing import MIN_PAIRS
from trajectories.learnable import Learnable, learnable
from trajectories.pair import Pair
from trajectories.splitting import task_is_held_out
from trajectories.trajectory import Trajectory

RULES = DataRules()


def made_of(folder: Path, *records: Any, plays: bool = False, **rules: Any) -> Learnable:
    reading = read(folder, lines(*records))
    assert reading.problems == ()
    return learnable(reading.pairs, reading.trajectories, DataRules(**rules), plays=plays)


def goods(made: Learnable) -> list[bool]:
    return [one.good for one in (*made.labelled_training, *made.labelled_held_out)]


def test_enough_pairs_are_learnt_from_and_the_sentence_counts_them(tmp_path: Path) -> None:
    made = made_of(tmp_path, *map(trl, range(100)))
    assert made.kind == "pairs"
    assert (
        made.why == f"{len(made.training)} pairs to train on and {len(made.held_out)} held out"
        " are learnt from"
    )
    assert min(len(made.training), len(made.held_out)) >= MIN_PAIRS


def test_few_pairs_are_labels_of_both_kinds(tmp_path: Path) -> None:
    made = made_of(tmp_path, *map(trl, range(9)))
    assert made.kind == "labels"
    assert "9 pairs are too few (8 needed on each side of the split)" in made.why
    assert "9 good, 9 bad" in made.why
    assert sorted(goods(made)) == [False] * 9 + [True] * 9
    assert len(made.training) + len(made.held_out) == 9, "a step that needs pairs finds them"


def test_episodes_without_pairs_are_labelled_by_their_reward(tmp_path: Path) -> None:
    records = [logged(n, reward=n % 3 / 2, traj=talk(f"task {n}", "a")) for n in range(30)]
    made = made_of(tmp_path, *records)
    assert made.kind == "labels"
    assert "no two of 30 episodes are of one task and opening with unlike rewards" in made.why
    assert sum(goods(made)) == 20
    stricter = made_of(tmp_path, *records, good_reward=0.75)
    assert sum(goods(stricter)) == 10


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_group_of_one_and_equal_rewards_give_no_pair(tmp_path: Path, reward: float) -> None:
    one = made_of(tmp_path, logged(1, reward=reward))
    same = [logged(1, trial=n, reward=reward, traj=talk("a", f"b{n}")) for n in range(5)]
    group = made_of(tmp_path, *same)
    assert one.training == one.held_out == group.training == group.held_out == ()
    assert goods(group) == [reward >= 0.5] * 5


def test_a_label_counts_before_a_reward_and_neither_is_good(tmp_path: Path) -> None:
    made = made_of(tmp_path, chat(1, label=False), chat(2, label=True), chat(3))
    assert sorted(goods(made)) == [False, True, True]
    turns = [turn("user", "a"), {**turn("assistant", "b"), "reward": 1}]
    judged = made_of(tmp_path, {"messages": turns, "label": False})
    assert judged.labelled_training[0].trajectory.reward == 1
    assert goods(judged) == [False]


@pytest.mark.parametrize(("wanted", "kind"), [("pairs", "pairs"), ("labels", "labels")])
def test_the_pipeline_chooses_against_the_numbers(tmp_path: Path, wanted: Any, kind: str) -> None:
    few = made_of(tmp_path, *map(trl, range(5)), learn_from=wanted)
    many = made_of(tmp_path, *map(trl, range(90)), learn_from=wanted)
    assert (few.kind, many.kind) == (kind, kind)
    assert "as the pipeline says" in few.why


def test_pairs_that_are_wanted_and_are_none_leave_nothing(tmp_path: Path) -> None:
    assert made_of(tmp_path, chat(1), learn_from="pairs").kind == "nothing"


def test_prompts_images_and_turns_that_are_not_learnt_teach_nothing(tmp_path: Path) -> None:
    shows = [{"type": "image", "path": "a.png"}, "what?"]
    unlearnt = [turn("user", "a"), {**turn("assistant", "b"), "weight": 0}]
    records = [
        {"messages": [turn("user", shows), turn("assistant", "a cat")]},
        {"messages": unlearnt},
    ]
    made = made_of(tmp_path, *records)
    assert (made.kind, goods(made)) == ("nothing", [])
    prompts = made_of(tmp_path, {"prompt": "a"}, {"prompt": "b"}, plays=True)
    assert (prompts.kind, prompts.demonstrations) == ("nothing", ())


def test_a_pair_with_a_side_that_is_not_learnt_teaches_nothing(tmp_path: Path) -> None:
    unlearnt = {**turn("assistant", "b"), "weight": 0}
    records = [trl(1, chosen=[unlearnt]), trl(2, rejected=[unlearnt])]
    made = made_of(tmp_path, *records)
    assert (made.kind, made.training, made.held_out, goods(made)) == ("nothing", (), (), [])


def test_what_both_sides_of_a_pair_share_is_neither_good_nor_bad(tmp_path: Path) -> None:
    prompt = [turn("user", "a"), turn("assistant", "b"), turn("user", "c")]
    made = made_of(tmp_path, trl(prompt=prompt))
    for one in (*made.labelled_training, *made.labelled_held_out):
        turns = one.trajectory.messages
        assert [said.learnt for said in turns if said.role == "assistant"] == [False, True]
    assert sorted(goods(made)) == [False, True]


def test_records_that_say_the_same_count_once_whatever_files_they_are_in(tmp_path: Path) -> None:
    first = read(tmp_path, lines(trl(1), trl(2, origin="a"), trl(3)))
    second = read(tmp_path, lines(trl(3), trl(2, origin="b"), trl(2)), name="g.jsonl")
    made = learnable((*first.pairs, *second.pairs), (), RULES, plays=False)
    assert len(made.training) + len(made.held_out) == 3
    logs = [logged(1, info=n) for n in range(3)]
    assert len(goods(made_of(tmp_path, *logs))) == 1


@given(st.text(min_size=1, max_size=9), st.floats(0, 1), st.floats(0, 1))
def test_a_task_is_on_one_side_and_raising_the_share_only_adds(
    task: str, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert task_is_held_out(task, low) <= task_is_held_out(task, high)


TASKS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3)), max_size=40
)


@settings(max_examples=100, deadline=None)
@given(drawn=TASKS, seed=st.integers(0, 9), wanted=st.sampled_from(["auto", "pairs", "labels"]))
def test_no_task_leaks_and_neither_order_nor_grouping_of_files_changes_anything(
    drawn: list[tuple[int, float, int]], seed: int, wanted: Any
) -> None:
    episodes = [episode(f"t{task}", reward, "go", f"say {n}") for task, reward, n in drawn]
    rules = DataRules(learn_from=wanted)
    made = learnable((), episodes, rules, plays=False)
    shuffled = random.Random(seed).sample(episodes, len(episodes))
    assert learnable((), shuffled + episodes, rules, plays=False) == made
    sides = [
        {pair.task for pair in pairs} | {one.trajectory.task for one in labels}
        for pairs, labels in (
            (made.training, made.labelled_training),
            (made.held_out, made.labelled_held_out),
        )
    ]
    assert not sides[0] & sides[1]
    assert {one.id for one in episodes} == {
        one.trajectory.id for one in (*made.labelled_training, *made.labelled_held_out)
    }


def test_a_prompt_is_on_one_side_as_a_pair_and_as_a_demonstration(tmp_path: Path) -> None:
    both = [record for n in range(40) for record in (completion(n),)]
    answers = made_of(tmp_path, *both)
    pairs = made_of(tmp_path, *(trl(n, prompt=f"question {n}") for n in range(40)))
    held = {pair.prompt_digest for pair in pairs.held_out}
    assert {one.trajectory.task for one in answers.labelled_held_out} == held
    assert held


def test_a_chat_and_a_pair_that_goes_apart_within_it_are_on_one_side(tmp_path: Path) -> None:
    def asked(n: int) -> list[Any]:
        return [turn("user", f"question {n}"), turn("assistant", "b"), turn("user", "c")]

    chats = [{"messages": [*asked(n), turn("assistant", "good")]} for n in range(40)]
    answers = [{"prompt": asked(n), "completion": "good"} for n in range(40)]
    pairs = made_of(tmp_path, *(trl(n, prompt=asked(n)) for n in range(40)))
    held = {pair.prompt[0].content for pair in pairs.held_out}
    assert 0 < len(held) < 40
    for made in (pairs, made_of(tmp_path, *chats), made_of(tmp_path, *answers)):
        labels = {one.trajectory.messages[0].content for one in made.labelled_held_out}
        assert labels == held


def test_a_policy_that_plays_gets_every_episode_and_no_labels(tmp_path: Path) -> None:
    made = made_of(tmp_path, *map(logged, range(20)), plays=True)
    assert len(made.demonstrations) == 20
    assert (made.kind, goods(made)) == ("episodes", [])


def test_a_pair_of_episodes_keeps_their_task_and_tools() -> None:
    episodes = [
        Trajectory.of("t", "", reward, one.messages, tools="[]")
        for reward, one in ((1.0, episode("t", 0, "go", "a")), (0.0, episode("t", 0, "go", "b")))
    ]
    made = learnable((), episodes, DataRules(learn_from="pairs"), plays=False)
    (pair,) = (*made.training, *made.held_out)
    assert isinstance(pair, Pair)
    assert (pair.task, pair.tools) == ("t", "[]")
