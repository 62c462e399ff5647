"""A folder below a pipeline's: what its seal takes, and what is refused."""

from __future__ import annotations

import json

import pytest
from fakes import sets
from fakes.recipes import pipeline
from fakes.sets import ROWS, end, objects, plan_of, put, report, seal
from fakes.world import World

from contracts import layout
from lambdas.logic import plan_drops, survey_set


def test_a_sealed_folder_is_one_drop_with_the_versions_of_its_planning(world: World) -> None:
    a, b = put(world, "b.jsonl", "deep/er/a.jsonl")
    drop = seal(world)
    assert (drop.status, drop.objects, drop.size) == ("waiting", 2, 2 * len(ROWS))
    plan = plan_of(world)
    (planned,) = plan.drops
    assert (planned.id, planned.key, planned.size) == (drop.id, drop.key, 2 * len(ROWS))
    assert objects(planned) == [("b.jsonl", a), ("deep/er/a.jsonl", b)]
    (run,) = world.runs("tone")
    assert run.drops == 1
    assert {it.status for it in sets.known(world).values()} == {"planned"}
    assert {it.run for it in sets.known(world).values()} == {run.run}


def test_an_unsealed_folder_starts_no_run_and_is_counted(world: World) -> None:
    put(world, "a.jsonl", "b.jsonl")
    world.deliver_all()
    assert world.runs("tone") == []
    assert world.counted == {"UploadUnsealed": 2}
    assert [it.folder for it in world.ledger.sets.unsealed_of("tone", limit=9)] == ["day"]


def test_a_seal_heard_before_its_files_takes_them_and_their_events_change_nothing(
    world: World,
) -> None:
    versions = put(world, "a.jsonl", "b.jsonl")
    late, world.mail = world.mail, []
    seal(world)
    assert [it[1] for it in objects(plan_of(world).drops[0])] == versions
    before = {key: dict(item) for key, item in world.table.items.items()}
    world.mail = late
    world.deliver_all()
    assert world.table.items == before
    assert world.counted["UploadKnown"] == 2


def test_a_plain_file_and_a_set_share_a_run(world: World) -> None:
    world.upload("incoming/tone/alone.jsonl")
    put(world, "a.jsonl")
    seal(world)
    first, second = plan_of(world).drops
    assert first.objects is None
    assert len(second.objects or ()) == 1


def test_the_same_seal_again_is_known_and_a_new_one_has_what_is_new(world: World) -> None:
    put(world, "a.jsonl")
    seal(world)
    plan_of(world)
    end(world)
    for queue, body in list(world.told):
        assert world.hand_over(queue, body)
    assert len(world.runs("tone")) == 1
    again = seal(world)
    assert again.status == "rejected"
    run = world.runs("tone")[0].run
    assert report(world, again).reason == (
        f"every file of the folder was taken or refused before, last by run {run}"
    )


def test_two_seals_before_the_plan_go_into_one_run(world: World) -> None:
    put(world, "a.jsonl")
    first = seal(world)
    put(world, "b.jsonl")
    second = seal(world)
    plan = plan_of(world)
    assert [drop.id for drop in plan.drops] == [first.id, second.id]
    assert [len(drop.objects or ()) for drop in plan.drops] == [2, 0]
    assert world.runs("tone")[0].drops == 2


def test_a_seal_of_nothing_is_refused_with_what_to_do(world: World) -> None:
    world.upload(layout.set_folder("tone", "day"), b"")  # a marker, as consoles make them
    put(world, "_committed_17", ".a.crc", "_temporary/0/a.jsonl", "_delta_log/0.json")
    drop = seal(world)
    assert drop.status == "rejected"
    told = report(world, drop)
    assert "holds no file" in told.reason
    assert "_SUCCESS comes last" in told.remedy
    assert world.runs("tone") == []


def test_what_spark_hides_is_no_file_of_a_set_but_its_partitions_are(world: World) -> None:
    put(world, "_committed_17", ".part-0.crc", "_year=2026/a.jsonl", "year=2026/a.jsonl")
    seal(world, body=b'{"committer": "magic"}')
    names = [name for name, _ in objects(plan_of(world).drops[0])]
    assert names == ["_year=2026/a.jsonl", "year=2026/a.jsonl"]
    assert world.counted["UploadIgnored"] == 2


def test_a_seal_within_a_subfolder_seals_nothing(world: World) -> None:
    put(world, "sub/a.jsonl", "sub/_SUCCESS")
    world.deliver_all()
    assert world.runs("tone") == []
    assert len(world.ledger.sets.unsealed_of("tone", limit=9)) == 1


def small(world: World, **rules: int) -> None:
    recipe = pipeline("tone")
    data = recipe.data.model_copy(update=rules)
    world.register(recipe.model_copy(update={"data": data}))


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("OBJECTS_PER_SET_MAX", "holds 3 files, a set takes 2"),
        ("SET_BYTES_MAX", "holds 51 bytes, a set takes 2"),
        ("VERSIONS_PER_SET_MAX", "over 2 versions"),
    ],
)
def test_too_much_is_refused_whole_in_words_and_can_be_mended(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, words: str
) -> None:
    put(world, "a.jsonl", "b.jsonl", "c.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(survey_set, limit, 2)
        drop = seal(world)
    assert drop.status == "rejected"
    assert words in report(world, drop).reason
    assert {it.status for it in sets.known(world).values()} == {"unsealed"}
    assert seal(world).objects == 3


def test_a_file_over_the_pipelines_limit_refuses_the_whole_set_by_its_name(world: World) -> None:
    small(world, max_object_bytes=20)
    put(world, "a.jsonl")
    put(world, "large.jsonl", "larger.jsonl", body=ROWS * 2)
    drop = seal(world)
    told = report(world, drop)
    assert "incoming/tone/day/large.jsonl has 34 bytes, the pipeline takes 20 a file" in told.reason
    assert "1 more is too large" in told.reason
    for name in ("large.jsonl", "larger.jsonl"):
        world.objects.delete(layout.set_folder("tone", "day") + name)
    assert seal(world).objects == 1


def test_what_became_too_much_before_it_was_planned_is_refused_by_the_plan(world: World) -> None:
    put(world, "a.jsonl")
    drop = seal(world)
    small(world, max_object_bytes=5)
    run = world.runs("tone")[0].run
    world.graph.step(run)
    refused = world.ledger.drops.get(drop.id)
    assert refused is not None
    assert refused.status == "rejected"
    told = report(world, refused)
    assert (told.refused_by, told.run) == ("plan", run)
    world.end_run(run)
    assert [it.status for it in world.runs("tone")] == ["EMPTY"]


def test_a_run_takes_whole_sets_until_it_is_full_and_later_seals_of_those_go_along(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_drops, "OBJECTS_PER_RUN_MAX", 3)
    for folder in ("one", "two", "three"):
        put(world, "a.jsonl", "b.jsonl", folder=folder)
        seal(world, folder)
    seal(world, "one")
    assert [drop.key.split("/")[2] for drop in plan_of(world).drops] == ["one", "one"]
    end(world)
    assert [drop.key.split("/")[2] for drop in plan_of(world).drops] == ["two"]


def test_files_are_not_sniffed_so_that_no_order_of_events_changes_what_a_set_is(
    world: World,
) -> None:
    put(world, "a.jsonl")
    put(world, "b.jsonl", body=b"not json")
    put(world, "empty.jsonl", body=b"")
    seal(world)
    assert len(objects(plan_of(world).drops[0])) == 3


def test_a_misleading_name_in_a_set_is_refused_alone(world: World) -> None:
    (bad,) = put(world, "a\u202eb.jsonl")
    put(world, "b.jsonl")
    seal(world)
    assert [name for name, _ in objects(plan_of(world).drops[0])] == ["b.jsonl"]
    key = layout.set_folder("tone", "day") + "a\u202eb.jsonl"
    drop = world.drop(key, bad)
    assert drop is not None
    assert drop.status == "rejected"
    assert sets.report_on(world, key, bad) is not None


def test_where_there_is_no_pipeline_the_seal_is_refused_and_its_files_wait_for_another(
    world: World,
) -> None:
    folder = "incoming/later/day/"
    version = world.upload(f"{folder}a.jsonl")
    refused = world.upload(f"{folder}_SUCCESS")
    world.deliver_all()
    drop, waiting = (
        world.drop(f"{folder}_SUCCESS", refused),
        world.drop(f"{folder}a.jsonl", version),
    )
    assert drop is not None
    assert "no pipeline" in drop.reason
    assert waiting is None
    world.register(pipeline("later"))
    world.upload(f"{folder}_SUCCESS")
    world.deliver_all()
    plan = plan_of(world, world.runs("later")[-1].run)
    assert objects(plan.drops[0]) == [("a.jsonl", version)]


def test_a_retry_takes_the_same_versions_of_a_set(world: World) -> None:
    from lambdas.logic.retry_run import retry_run

    put(world, "a.jsonl")
    seal(world)
    first = plan_of(world)
    put(world, "a.jsonl")
    end(world)
    again = plan_of(world, retry_run(first.run, world.plane))
    assert again.drops == first.drops


def test_an_unreadable_file_is_refused_by_its_cause_and_the_next_is_taken(world: World) -> None:
    bad = world.upload("incoming/tone/locked.jsonl")
    world.objects.unreadable.add(bad)
    world.upload("incoming/tone/fine.jsonl")
    world.deliver_all()
    drop = world.drop("incoming/tone/locked.jsonl", bad)
    assert drop is not None
    assert "cannot be read: KMS.DisabledException" in report(world, drop).reason
    assert len(world.ledger.drops.waiting("tone", limit=9)) == 1


def test_five_thousand_files_are_one_plan_of_bounded_size(world: World) -> None:
    put(world, *(f"part-{n:05d}.jsonl" for n in range(5000)))
    world.mail = []  # not one of their events has come
    seal(world)
    plan = plan_of(world)
    assert len(plan.drops[0].objects or ()) == 5000
    assert len(json.dumps(plan.model_dump(mode="json"))) < 2_000_000
    assert len(sets.taken(world)) == 5000
    assert {it.status for it in sets.known(world).values()} == {"planned"}
