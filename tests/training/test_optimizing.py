"""`optimize`: what is learnt, what is left behind, and how it goes on after an end."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from job_box import BUCKET, NAME, RUN, Box, recipe
from sample_pairs import make_pairs, openai_file

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.result import PhaseResult
from training.assignment import Assignment, read_assignment
from training.checkpoints.folders import folder_of, verify_folder
from training.episodes.encoding import EncodedPair, encode_pairs
from training.episodes.fitting import Answer, Loss
from training.events import Advance, Event, Stopped
from training.lessons.dpo_lesson import DpoLesson
from training.objects import Objects
from training.phases import optimize

Collected = tuple[Box, dict[str, ArtifactRef]]


def inputs(artifacts: dict[str, ArtifactRef]) -> dict[str, ArtifactRef]:
    return {name: artifacts[name] for name in ("episodes", "start")}


def optimized(collected: Collected, attempt: int = 1) -> PhaseResult:
    box, artifacts = collected
    spec = box.job("optimize", inputs(artifacts), attempt=attempt)
    assert box.run(spec) == 0, box.result(spec).failure
    return box.result(spec)


def policy_files(result: PhaseResult) -> dict[str, bytes]:
    folder = folder_of(result.artifacts["policy"])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def events(box: Box, spec: JobSpec) -> tuple[Assignment, Iterator[Event]]:
    """The work of a job, to be followed by hand."""
    objects = Objects(BUCKET, box.client)
    assignment = read_assignment(objects, spec)
    return assignment, optimize.work(assignment, optimize.prepare(assignment, objects))


def test_a_policy_is_made_exported_and_loads_with_plain_transformers(
    collected: Collected, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    box, _ = collected
    result = optimized(collected)
    prefix = layout.policy(NAME, RUN)
    assert result.artifacts["export"].uri == f"s3://{BUCKET}/{prefix}"
    for key in box.keys(prefix):
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / key.removeprefix(prefix)).write_bytes(box.read(key))
    verify_folder(tmp_path / "out", result.artifacts["export"])
    assert not list((tmp_path / "out").glob("optimizer*"))
    AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    assert AutoTokenizer.from_pretrained(tmp_path / "out").chat_template


def test_the_first_loss_is_log_2_and_it_falls(box: Box) -> None:
    box.pipeline = recipe(optimize={"steps": 30, "learning_rate": 0.01})
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    spec = box.job("optimize", inputs(dict(box.finished("collect").artifacts)))
    losses = [
        event.metrics["loss"]
        for event in events(box, spec)[1]
        if isinstance(event, Advance) and event.stage == "Training by dpo"
    ]
    assert losses[0] == pytest.approx(0.693147, abs=1e-5)
    assert losses[-1] < 0.4


def test_progress_shows_the_loss_and_held_out_pairs_moving(collected: Collected) -> None:
    box, artifacts = collected
    spec = box.job("optimize", inputs(artifacts))
    seen = [event for event in events(box, spec)[1] if isinstance(event, Advance)]
    last = seen[-1]
    assert (last.stage, last.step, last.steps) == ("Training by dpo", 6, 6)
    assert {"loss", "reward_accuracy", "margin", "held_out_accuracy", "held_out_loss"} <= set(
        last.metrics
    )


@pytest.mark.parametrize("steps_before", [1, 2, 5])
def test_going_on_from_a_checkpoint_ends_bit_for_bit_where_one_training_would(
    collected: Collected, steps_before: int
) -> None:
    box, artifacts = collected
    whole = policy_files(optimized(collected))
    box.folder = box.folder / "again"
    spec = box.job("optimize", inputs(artifacts))
    assignment, work = events(box, spec)
    for event in work:
        if (
            isinstance(event, Advance)
            and event.stage == "Training by dpo"
            and event.step == steps_before
        ):
            assignment.stop_mark.touch()
    assert event == Stopped(steps_before)
    second = optimized(collected, attempt=2)
    assert second.resumed_from == f"step {steps_before} of attempt 1"
    assert policy_files(second) == whole


def test_a_training_that_was_complete_is_not_trained_again(collected: Collected) -> None:
    first = optimized(collected)
    second = optimized(collected, attempt=2)
    assert second.resumed_from == "step 6 of attempt 1"
    assert policy_files(second) == policy_files(first)
    assert second.artifacts["export"] == first.artifacts["export"]


def test_a_damaged_checkpoint_is_passed_over_and_the_result_says_so(
    collected: Collected,
) -> None:
    box, _ = collected
    first = optimized(collected)
    series = box.folder / RUN / "1-optimize-checkpoints"
    weights = series / "01" / "step-00000006" / "optimizer.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    second = optimized(collected, attempt=2)
    assert second.resumed_from == "step 4 of attempt 1"
    assert any("skipped step 6 of attempt 1" in note for note in second.notes)
    assert policy_files(second) == policy_files(first)


def test_a_checkpoint_of_other_data_is_not_gone_on_from(collected: Collected) -> None:
    box, artifacts = collected
    optimized(collected)
    other = artifacts | {"episodes": box_of_other_episodes(box)}
    second = optimized((box, other), attempt=2)
    assert second.resumed_from == ""
    assert any("other data or another recipe" in note for note in second.notes)


def box_of_other_episodes(box: Box) -> ArtifactRef:
    box.drops.clear()
    box.drop("others.jsonl", openai_file(make_pairs(30, seed=9)))
    box.plan()
    spec = box.job("collect", attempt=2)
    assert box.run(spec) == 0
    return box.result(spec).artifacts["episodes"]


def test_the_reference_is_computed_once_and_again_only_when_it_is_damaged(
    collected: Collected,
) -> None:
    box, artifacts = collected
    optimized(collected)
    (kept,) = (box.folder / RUN / "1-optimize-checkpoints").glob("reference-*")

    def scored(attempt: int) -> bool:
        spec = box.job("optimize", inputs(artifacts), attempt=attempt)
        said = [getattr(event, "stage", "") for event in events(box, spec)[1]]
        return any("Scoring" in stage for stage in said)

    assert not scored(2)
    (kept / "reference.safetensors").write_bytes(b"damaged")
    assert scored(3)
    assert not scored(4)


def test_the_reference_is_computed_again_where_other_tokens_of_the_same_texts_are_learnt(
    collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, artifacts = collected
    optimized(collected)

    def first_tokens_given(*args: Any, **kwargs: Any) -> tuple[list[EncodedPair], Loss]:
        pairs, loss = encode_pairs(*args, **kwargs)
        changed = [
            replace(pair, chosen=Answer(pair.chosen.ids, (0, *pair.chosen.learn[1:])))
            for pair in pairs
        ]
        return changed, loss

    monkeypatch.setattr("training.lessons.dpo_lesson.encode_pairs", first_tokens_given)
    spec = box.job("optimize", inputs(artifacts), attempt=2)
    said = [getattr(event, "stage", "") for event in events(box, spec)[1]]
    assert any("Scoring" in stage for stage in said)


@pytest.mark.parametrize("name", ["episodes", "start"])
def test_an_input_that_changed_since_it_was_handed_on_is_refused(
    collected: Collected, name: str
) -> None:
    box, artifacts = collected
    folder = folder_of(artifacts[name])
    victim = sorted(path for path in folder.iterdir() if path.name != "manifest.json")[0]
    victim.write_bytes(victim.read_bytes() + b" ")
    spec = box.job("optimize", inputs(artifacts))
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error == "ArtifactCorrupt"
    assert str(victim) in failure.cause


def test_a_loss_that_explodes_fails_for_good_and_saves_nothing(
    collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, artifacts = collected
    monkeypatch.setattr("training.algorithms.dpo_learner.LOSS_MAX", 0.1)
    spec = box.job("optimize", inputs(artifacts))
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error == "JobFailed"
    assert "Lower learning_rate" in failure.cause
    assert not list((box.folder / RUN / "1-optimize-checkpoints").glob("*/step-*"))
    assert box.keys(layout.policy(NAME, RUN)) == []


def test_weights_that_are_not_numbers_are_never_saved(
    collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, artifacts = collected
    step = DpoLesson._one_step

    def poison(lesson: DpoLesson) -> None:
        step(lesson)
        if lesson.done == 4:
            next(iter(lesson.room.model.parameters())).data[0, 0] = float("nan")

    monkeypatch.setattr(DpoLesson, "_one_step", poison)
    spec = box.job("optimize", inputs(artifacts))
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert "holds NaN or infinity after step 4" in failure.cause
    series = box.folder / RUN / "1-optimize-checkpoints"
    assert [path.name for path in series.glob("*/step-*")] == ["step-00000002"]


def test_pairs_that_teach_nothing_are_no_failure(box: Box) -> None:
    """A batch whose answers score alike gives a zero gradient, not a division by it."""
    box.pipeline = recipe(optimize={"beta": 1e-6, "steps": 3})
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    spec = box.job("optimize", inputs(dict(box.finished("collect").artifacts)))
    assert box.run(spec) == 0
    assert box.result(spec).metrics["loss"] == pytest.approx(0.693147, abs=1e-4)


def test_only_the_last_round_exports_and_the_others_hand_on_what_the_next_needs(
    box: Box,
) -> None:
    box.pipeline = recipe(many=2)
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    first = dict(box.finished("collect").artifacts)
    spec = box.job("optimize", inputs(first))
    assert box.run(spec) == 0
    handed_on = dict(box.result(spec).artifacts)
    assert set(handed_on) == {"policy", "episodes", "parent"}
    again = box.job("collect", handed_on, round_=2)
    assert box.run(again) == 0
    second = dict(box.result(again).artifacts)
    assert second == {
        "episodes": first["episodes"],
        "start": handed_on["policy"],
        "parent": first["start"],
    }
    last = box.job("optimize", second, round_=2)
    assert box.run(last) == 0
    assert set(box.result(last).artifacts) == {"policy", "export"}
    judged = box.job("evaluate", second | dict(box.result(last).artifacts), round_=2)
    assert box.run(judged) == 0
    assert box.result(judged).metrics["pairs"] > 0


def test_an_attempt_that_has_been_replaced_writes_no_manifest(
    collected: Collected,
) -> None:
    box, artifacts = collected
    spec = box.job("optimize", inputs(artifacts), attempt=1)
    box.job("optimize", inputs(artifacts), attempt=2)
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error == "AttemptFenced"
    assert layout.policy(NAME, RUN) + "manifest.json" not in box.keys(layout.policy(NAME, RUN))


def test_every_uploaded_file_is_checked_by_s3_against_its_digest(
    collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, _ = collected
    sent: dict[str, object] = {}
    put = box.client.put_object

    def noting(**options: object) -> object:
        sent[str(options["Key"])] = options.get("ChecksumSHA256")
        return put(**options)

    monkeypatch.setattr(box.client, "put_object", noting)
    optimized(collected)
    exported = [key for key in sent if key.startswith("policies/")]
    assert exported[-1].endswith("/manifest.json")
    assert len(exported) > 4
    assert all(sent[key] for key in exported)
