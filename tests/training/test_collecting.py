"""`collect`: what is taken of the drops, what is told of the rest, and the policy to start from."""

from pathlib import Path

import pytest
from job_box import BUCKET, NAME, RUN, Box, recipe
from sample_pairs import make_pairs, openai_file

from contracts import layout
from contracts.artifact import MANIFEST, ArtifactRef
from contracts.errors import PermanentError, names_below
from contracts.plan import Parent
from training.checkpoints.folders import folder_of, verify_folder
from training.episodes.artifact import HELD_OUT, TRAIN, pairs_in

Collected = tuple[Box, dict[str, ArtifactRef]]


def test_pairs_are_split_by_digest_into_train_and_held_out(collected: Collected) -> None:
    _, artifacts = collected
    folder = folder_of(artifacts["episodes"])
    verify_folder(folder, artifacts["episodes"])
    train, held_out = list(pairs_in(folder, TRAIN)), list(pairs_in(folder, HELD_OUT))
    assert {pair.id for pair in [*train, *held_out]} == {pair.id for pair in make_pairs(40)}
    assert not {pair.prompt for pair in train} & {pair.prompt for pair in held_out}
    assert 0 < len(held_out) < len(train)


def test_version_zero_is_exported_and_loads_with_plain_transformers(
    collected: Collected, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    box, artifacts = collected
    prefix = layout.initial_policy(NAME, RUN)
    assert artifacts["initial"].uri == f"s3://{BUCKET}/{prefix}"
    assert artifacts["initial"].manifest == artifacts["start"].manifest
    for key in box.keys(prefix):
        (tmp_path / "policy").mkdir(exist_ok=True)
        (tmp_path / "policy" / key.removeprefix(prefix)).write_bytes(box.read(key))
    verify_folder(tmp_path / "policy", artifacts["initial"])
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "policy")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "policy")
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hello"}], add_generation_prompt=True, return_tensors="pt"
    )
    assert model.generate(**asked, max_new_tokens=3).shape[0] == 1


def test_version_zero_is_the_same_for_the_same_seed_and_another_for_another(box: Box) -> None:
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    digests = []
    for attempt, seed in ((1, 5), (2, 5), (3, 6)):
        box.pipeline = recipe(seed=seed)
        box.plan()
        spec = box.job("collect", attempt=attempt)
        assert box.run(spec) == 0
        folder = folder_of(box.result(spec).artifacts["start"])
        digests.append((folder / "model.safetensors").read_bytes())
    assert digests[0] == digests[1] != digests[2]


def test_the_exact_version_of_the_plan_is_read_not_the_newest(box: Box) -> None:
    box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    box.client.put_object(Bucket=BUCKET, Key=box.drops[0].key, Body=b"something else now")
    assert box.finished("collect").metrics["usable"] == 40


def test_the_same_pair_in_two_drops_is_taken_once(box: Box) -> None:
    box.drop("one.jsonl", openai_file(make_pairs(40)))
    box.drop("two.jsonl", openai_file(make_pairs(40)[:10]))
    box.plan()
    result = box.finished("collect")
    assert (result.metrics["usable"], result.metrics["distinct_pairs"]) == (50, 40)
    assert [report.usable for report in result.objects] == [40, 10]


def test_every_bad_record_is_reported_with_its_line_and_the_rest_is_taken(box: Box) -> None:
    lines = openai_file(make_pairs(40)).splitlines(keepends=True)
    drop = box.drop("mixed.jsonl", b"".join([*lines[:5], b"{broken\n", *lines[5:], b'{"a": 1}\n']))
    box.plan()
    result = box.finished("collect")
    (report,) = result.objects
    assert (report.drop, report.records, report.usable, report.rejected) == (drop.id, 42, 40, 2)
    assert [problem.line for problem in report.problems] == [6, 42]


def test_a_file_with_too_large_a_share_of_bad_records_gives_nothing(box: Box) -> None:
    box.pipeline = recipe(data={"max_bad_share": 0.1})
    lines = openai_file(make_pairs(40)).splitlines(keepends=True)
    box.drop("bad.jsonl", b"".join([*lines[:8], b"{broken\n", b"{broken\n"]))
    box.drop("good.jsonl", b"".join(lines))
    box.plan()
    bad, good = box.finished("collect").objects
    assert (bad.records, bad.usable, bad.rejected, good.usable) == (10, 0, 10, 40)
    assert "20% of the records are bad" in bad.problems[0].problem
    assert bad.problem_count == 3


@pytest.mark.parametrize("data", [b"", b"not json at all", b'{"a": 1}\n'])
def test_drops_without_a_usable_pair_are_no_data_and_no_failure(box: Box, data: bytes) -> None:
    box.drop("empty.jsonl", data)
    box.plan()
    result = box.finished("collect")
    assert (result.outcome, result.artifacts) == ("no_data", {})
    assert result.metrics["usable"] == 0
    assert result.objects[0].problem_count >= 1


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 usable pair leaves"), (2, "2 usable pairs leave")]
)
def test_too_few_pairs_to_split_say_how_many_are_needed_and_still_report_the_drop(
    box: Box, count: int, words: str
) -> None:
    box.pipeline = recipe(data={"held_out_share": 0.01})
    box.drop("few.jsonl", openai_file(make_pairs(count)))
    box.plan()
    spec = box.job("collect")
    assert box.run(spec) == 1
    result = box.result(spec)
    assert result.failure is not None
    assert result.failure.error == "DataUnusable"
    assert f"{words} none to judge by" in result.failure.cause
    assert "drop at least 300 pairs" in result.failure.cause
    assert result.objects[0].usable == count


def test_an_object_version_that_is_gone_fails_for_good_and_by_name(box: Box) -> None:
    drop = box.drop("pairs.jsonl", openai_file(make_pairs(40)))
    box.plan()
    box.client.delete_object(Bucket=BUCKET, Key=drop.key, VersionId=drop.version_id)
    spec = box.job("collect")
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error in names_below(PermanentError)
    assert "incoming/preferences/pairs.jsonl" in failure.cause


def with_parent(box: Box, artifacts: dict[str, ArtifactRef]) -> None:
    box.parent = Parent(version=3, policy=artifacts["initial"])
    box.plan()


def test_a_run_with_a_parent_starts_from_it_and_exports_nothing(collected: Collected) -> None:
    box, artifacts = collected
    with_parent(box, artifacts)
    before = box.keys("policies/")
    spec = box.job("collect", attempt=2)
    assert box.run(spec) == 0
    made = box.result(spec).artifacts
    assert set(made) == {"episodes", "start"}
    assert made["start"].manifest == artifacts["initial"].manifest
    verify_folder(folder_of(made["start"]), made["start"])
    assert box.keys("policies/") == before


@pytest.mark.parametrize("name", ["model.safetensors", MANIFEST, "missing"])
def test_a_parent_that_is_not_what_was_published_is_refused(
    collected: Collected, name: str
) -> None:
    box, artifacts = collected
    with_parent(box, artifacts)
    prefix = layout.initial_policy(NAME, RUN)
    if name == "missing":
        box.client.delete_object(Bucket=BUCKET, Key=prefix + "config.json")
    else:
        data = bytearray(box.read(prefix + name))
        data[len(data) // 2] ^= 1
        box.client.put_object(Bucket=BUCKET, Key=prefix + name, Body=bytes(data))
    spec = box.job("collect", attempt=2)
    assert box.run(spec) == 1
    failure = box.result(spec).failure
    assert failure is not None
    assert failure.error == "ArtifactCorrupt"
    assert not (box.folder / RUN / spec.key.folder / "start").exists()


def test_a_model_in_a_folder_becomes_version_zero(collected: Collected) -> None:
    box, artifacts = collected
    path = folder_of(artifacts["start"])
    box.pipeline = recipe(model={"source": "folder", "path": str(path), "context": 64})
    box.plan()
    spec = box.job("collect", attempt=2)
    assert box.run(spec) == 0
    made = folder_of(box.result(spec).artifacts["start"])
    assert (made / "model.safetensors").read_bytes() == (path / "model.safetensors").read_bytes()
