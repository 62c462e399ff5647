"""Good and bad episodes, from the drop to the verdict: what is learnt by, what is judged by."""

import itertools
import json
import random
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from job_box import Box, recipe
from sample_pairs import THINGS, make_pairs, openai_file

from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.result import PhaseResult
from lambdas.logic.gate import judge
from training.assignment import Assignment, read_assignment
from training.checkpoints.folders import folder_of
from training.episodes.artifact import HELD_OUT, TRAIN, labelled_in, read_contents
from training.events import Advance, Event, Stopped
from training.objects import Objects
from training.phases import optimize
from trajectories.conversations import opening_digest
from trajectories.message import Message
from trajectories.splitting import task_is_held_out

KTO = {"algorithm": "kto", "steps": 6, "batch_size": 8, "checkpoint_every": 2, "warmup_steps": 1}
AUTO = {"algorithm": "auto", "steps": 4, "batch_size": 8, "checkpoint_every": 2}
SFT = {"algorithm": "sft", "steps": 4, "batch_size": 8, "warmup_steps": 1, "checkpoint_every": 2}
Collected = tuple[Box, dict[str, ArtifactRef]]


def labelled_file(count: int, *, good: float = 0.5, seed: int = 0) -> bytes:
    """TRL's unpaired form: a good answer names a day, a bad one does not."""
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        thing, label = draw.choice(THINGS), number < good * count
        answer = f"The {thing} comes on Friday." if label else f"Wait for the {thing}, maybe."
        lines.append(
            {"prompt": f"Where is {thing} {number}?", "completion": answer, "label": label}
        )
    draw.shuffle(lines)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def demonstrations_file(count: int) -> bytes:
    """OpenAI's chat form, which says of no answer whether it is good."""
    return "".join(
        json.dumps(
            {
                "messages": [
                    {"role": "user", "content": f"Where is parcel {number}?"},
                    {"role": "assistant", "content": "It comes on Friday."},
                ]
            }
        )
        + "\n"
        for number in range(count)
    ).encode()


def collected(box: Box, file: bytes, /, *steps: dict[str, Any], **changes: Any) -> Collected:
    box.pipeline = recipe(rounds=[{"optimize": list(steps)}], **changes)
    box.drop("labels.jsonl", file)
    box.plan()
    return box, dict(box.finished("collect").artifacts)


def inputs(artifacts: dict[str, ArtifactRef]) -> dict[str, ArtifactRef]:
    return {name: artifacts[name] for name in ("episodes", "start")}


def optimized(made: Collected, attempt: int = 1) -> PhaseResult:
    box, artifacts = made
    spec = box.job("optimize", inputs(artifacts), attempt=attempt)
    assert box.run(spec) == 0, box.result(spec).failure
    return box.result(spec)


def events(box: Box, spec: JobSpec) -> tuple[Assignment, Iterator[Event]]:
    objects = Objects("bucket-of-tests", box.client)
    assignment = read_assignment(objects, spec)
    return assignment, optimize.work(assignment, optimize.prepare(assignment, objects))


def judged(box: Box, artifacts: dict[str, ArtifactRef]) -> tuple[PhaseResult, str]:
    result = box.finished("evaluate", artifacts)
    return result, judge(box.pipeline.gate, result.metrics).reason


def refused(box: Box, file: bytes, /, *steps: dict[str, Any], **changes: Any) -> str:
    box.pipeline = recipe(rounds=[{"optimize": list(steps)}], **changes)
    box.drop("labels.jsonl", file)
    box.plan()
    spec = box.job("collect")
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error == "DataUnusable"
    return failure.cause


def policy_files(result: PhaseResult) -> dict[str, bytes]:
    folder = folder_of(result.artifacts["policy"])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_labels_keep_their_side_and_their_task_is_on_one_side_only(box: Box) -> None:
    _, artifacts = collected(box, labelled_file(60), KTO)
    folder = folder_of(artifacts["episodes"])
    train, held_out = list(labelled_in(folder, TRAIN)), list(labelled_in(folder, HELD_OUT))
    assert len(train) + len(held_out) == 60
    for one in (*train, *held_out):
        assert one.good == ("Friday" in one.trajectory.messages[-1].content)
    assert not {one.trajectory.task for one in train} & {one.trajectory.task for one in held_out}
    contents = read_contents(folder)
    assert (contents.kind, contents.train_good + contents.train_bad) == ("labels", len(train))
    assert "30 good, 30 bad" in contents.why


def test_kto_learns_to_tell_good_from_bad_and_the_gate_sees_it(box: Box) -> None:
    steps = KTO | {"steps": 40, "learning_rate": 0.01, "batch_size": 16, "beta": 0.3}
    made = collected(box, labelled_file(160), steps, data={"held_out_share": 0.4})
    learnt = optimized(made)
    assert learnt.metrics["loss"] < 0.4
    assert learnt.metrics["good_ratio"] > learnt.metrics["bad_ratio"]
    result, reason = judged(box, made[1] | learnt.artifacts)
    assert result.metrics["end_label_accuracy"] > 0.95
    assert result.metrics["gain"] == pytest.approx(
        result.metrics["end_label_accuracy"] - result.metrics["start_label_accuracy"]
    )
    assert result.metrics["gain_low"] <= result.metrics["gain"] <= result.metrics["gain_high"]
    assert reason.startswith("label_accuracy ")
    assert "comparisons of a good with a bad held-out episode" in reason


def test_the_first_loss_of_kto_is_half_and_progress_says_what_is_done(box: Box) -> None:
    _, artifacts = collected(box, labelled_file(60), KTO)
    spec = box.job("optimize", inputs(artifacts))
    seen = [event for event in events(box, spec)[1] if isinstance(event, Advance)]
    trained = [event for event in seen if event.stage == "Training by kto"]
    assert trained[0].metrics["loss"] == pytest.approx(0.5, abs=1e-5)
    assert trained[0].metrics["kl"] == pytest.approx(0.0, abs=1e-5)
    assert {"held_out_label_accuracy", "held_out_likelihood"} <= set(trained[-1].metrics)


def test_what_is_encoded_lies_in_the_workspace_and_needs_no_room_elsewhere(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = collected(box, labelled_file(60), KTO)
    monkeypatch.setattr(tempfile, "tempdir", str(box.folder / "nowhere"))
    learnt = optimized(made)
    assert "end_label_accuracy" in judged(box, made[1] | learnt.artifacts)[0].metrics


@pytest.mark.parametrize("steps_before", [1, 2, 5])
def test_kto_goes_on_from_a_checkpoint_bit_for_bit(box: Box, steps_before: int) -> None:
    made = collected(box, labelled_file(60), KTO)
    whole = policy_files(optimized(made))
    box.folder = box.folder / "again"
    spec = box.job("optimize", inputs(made[1]))
    assignment, work = events(box, spec)
    for event in work:
        if (
            isinstance(event, Advance)
            and event.stage == "Training by kto"
            and event.step == steps_before
        ):
            assignment.stop_mark.touch()
    assert event == Stopped(steps_before)
    second = optimized(made, attempt=2)
    assert second.resumed_from == f"step {steps_before} of attempt 1"
    assert policy_files(second) == whole


def test_the_reference_of_kto_is_computed_once(box: Box) -> None:
    made = collected(box, labelled_file(60), KTO)
    optimized(made)
    spec = box.job("optimize", inputs(made[1]), attempt=2)
    said = [getattr(event, "stage", "") for event in events(box, spec)[1]]
    assert not any("Scoring" in stage for stage in said)


def test_sft_learns_the_good_ones_without_an_environment(box: Box) -> None:
    steps = SFT | {"steps": 30, "learning_rate": 0.01}
    made = collected(box, labelled_file(60), steps, gate={"metric": "likelihood"})
    learnt = optimized(made)
    contents = read_contents(folder_of(made[1]["episodes"]))
    assert learnt.metrics["train_episodes"] == contents.train_good
    result, reason = judged(box, made[1] | learnt.artifacts)
    assert result.metrics["gain_low"] > 0
    assert result.metrics["end_likelihood"] > result.metrics["start_likelihood"] + 0.5
    assert result.metrics["label_accuracy_gain"] <= 1
    assert f"over {contents.held_out_good} good held-out episodes" in reason


@pytest.mark.parametrize(
    ("data", "algorithm", "metric"),
    [
        (labelled_file(60), "kto", "label_accuracy"),
        (demonstrations_file(60), "sft", "likelihood"),
        (openai_file(make_pairs(80)), "dpo", "accuracy"),
        (openai_file(make_pairs(20)), "kto", "label_accuracy"),
    ],
)
def test_auto_learns_by_what_the_data_allow_and_says_so(
    box: Box, data: bytes, algorithm: str, metric: str
) -> None:
    made = collected(box, data, AUTO, data={"held_out_share": 0.3})
    learnt = optimized(made)
    assert learnt.notes[0].startswith(f"auto learns by {algorithm}")
    assert box.progress(box.job("optimize", inputs(made[1]))).stage
    _, reason = judged(box, made[1] | learnt.artifacts)
    assert reason.startswith(f"{metric} ")


def test_where_bad_ones_are_of_too_few_tasks_an_open_gate_judges_the_good_ones(box: Box) -> None:
    """Bad answers all reply to one question that is held out and to one that is not."""
    asked = ["Where is box 1?", "Where is box 2?"]
    wanted = (True, False)
    for number in itertools.count(3):
        if tuple(task_is_held_out(opening(one), 0.4) for one in asked) == wanted:
            break
        asked = [asked[1], f"Where is box {number}?"]
    bad = [
        {"prompt": asked[number % 2], "completion": f"Wait {number} days.", "label": False}
        for number in range(12)
    ]
    lines = "".join(json.dumps(one) + "\n" for one in bad).encode()
    steps = SFT | {"steps": 30, "learning_rate": 0.01}
    made = collected(box, labelled_file(40, good=1) + lines, steps, data={"held_out_share": 0.4})
    learnt = optimized(made)
    result, reason = judged(box, made[1] | learnt.artifacts)
    assert result.metrics["held_out_bad"] == 6
    assert "label_accuracy_gain" in result.metrics
    assert judge(box.pipeline.gate, result.metrics).passed
    assert reason.startswith("likelihood ")


def opening(asked: str) -> str:
    return opening_digest([Message(role="user", content=asked)])


def test_auto_weighs_good_and_bad_alike_however_many_there_are(box: Box) -> None:
    from training.lessons.settling import settle

    made = collected(box, labelled_file(60, good=0.8), AUTO)
    contents = read_contents(folder_of(made[1]["episodes"]))
    step, why = settle(box.pipeline.rounds[0].optimize[0], contents)
    assert step.algorithm == "kto"
    assert step.desirable_weight * contents.train_good == pytest.approx(
        step.undesirable_weight * contents.train_bad
    )
    assert contents.why in why


def test_sft_before_kto_hands_on_its_policy_and_notes_are_said_once(box: Box) -> None:
    made = collected(box, labelled_file(60), SFT, AUTO)
    learnt = optimized(made)
    assert learnt.metrics["steps"] == 8
    assert "sft_loss" in learnt.metrics
    assert len(learnt.notes) == len(set(learnt.notes)) == 1


def test_sft_before_dpo_imitates_the_preferred_answers(box: Box) -> None:
    dpo = {**AUTO, "algorithm": "dpo"}
    made = collected(box, openai_file(make_pairs(40)), SFT | {"steps": 20}, dpo)
    learnt = optimized(made)
    contents = read_contents(folder_of(made[1]["episodes"]))
    assert learnt.metrics["sft_train_episodes"] == contents.train_pairs == contents.train_good
    assert learnt.metrics["sft_held_out_likelihood"] > -5.5
    assert judged(box, made[1] | learnt.artifacts)[1].startswith("accuracy ")


def test_a_long_log_is_cut_and_the_result_says_how_much(box: Box) -> None:
    long = labelled_file(60).replace(b"Where is", b"Well, hello! " * 30 + b" Where is")
    made = collected(box, long, KTO)
    learnt = optimized(made)
    assert learnt.metrics["train_rows_cut"] > 40
    assert 0 < learnt.metrics["train_cut_share"] < 1
    assert learnt.metrics["train_actions_cut_share"] == 0
    assert any("longer than model.context of 64 tokens" in note for note in learnt.notes)
    result, _ = judged(box, made[1] | learnt.artifacts)
    assert any("held-out episodes are longer" in note for note in result.notes)


def test_kto_without_bad_ones_is_refused_in_words(box: Box) -> None:
    cause = refused(box, demonstrations_file(40), KTO)
    assert "kto, which needs good and bad episodes" in cause
    assert "and 0 bad" in cause


def test_sft_without_good_ones_is_refused_in_words(box: Box) -> None:
    cause = refused(box, labelled_file(40, good=0), SFT)
    assert "none of" in cause
    assert "lower data.good_reward (0.5)" in cause


def test_auto_without_good_ones_is_refused_in_words(box: Box) -> None:
    assert "nothing to imitate" in refused(box, labelled_file(40, good=0), AUTO)


def test_a_gate_that_the_data_cannot_answer_is_refused_before_anything_is_trained(
    box: Box,
) -> None:
    cause = refused(box, demonstrations_file(40), SFT, gate={"metric": "label_accuracy"})
    assert "gate.metric is label_accuracy, but of the tasks held out" in cause
    assert "one good and one bad are needed" in cause


def test_dpo_on_labels_alone_says_what_else_would_do(box: Box) -> None:
    box.pipeline = recipe()
    box.drop("labels.jsonl", labelled_file(40))
    box.plan()
    result = box.finished("collect")
    assert result.outcome == "no_data"
    assert "let a round learn by kto, sft or auto" in result.notes[0]


def test_prompts_alone_are_no_data_and_the_reason_says_so(box: Box) -> None:
    lines = [{"messages": [{"role": "user", "content": f"Solve {n}."}]} for n in range(5)]
    box.pipeline = recipe(rounds=[{"optimize": AUTO}])
    box.drop("prompts.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
    box.plan()
    result = box.finished("collect")
    assert (result.outcome, result.artifacts) == ("no_data", {})
    assert result.notes
