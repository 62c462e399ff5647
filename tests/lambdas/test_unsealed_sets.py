"""Files of a folder that wait: told of, settled once, never forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import sets
from fakes.sets import end, objects, plan_of, put, seal
from fakes.world import World

from contracts import layout
from contracts.ledger import Unsealed
from contracts.rejection import Rejection
from lambdas.ledger.sets import Sets
from lambdas.logic import reconcile, settle_set
from lambdas.logic.reconcile_set import LOOK_EVERY, MISSING


def test_an_overwritten_file_is_taken_as_it_is_when_planned_and_the_old_version_refused(
    world: World,
) -> None:
    (old,) = put(world, "a.jsonl")
    seal(world)
    (new,) = put(world, "a.jsonl")
    world.deliver_all()
    assert objects(plan_of(world).drops[0]) == [("a.jsonl", new)]
    key = layout.set_folder("tone", "day") + "a.jsonl"
    left = world.set_object(key, old)
    assert left is not None
    assert left.status == "rejected"
    assert (
        "overwritten"
        in Rejection.from_bytes(sets.report_on(world, key, old) or b"", where=key).reason
    )


def test_a_file_overwritten_after_planning_waits_for_the_next_seal(world: World) -> None:
    put(world, "a.jsonl", "b.jsonl")
    seal(world)
    plan_of(world)
    (new,) = put(world, "a.jsonl")
    world.deliver_all()
    end(world)
    assert len(world.runs("tone")) == 1
    assert seal(world).objects == 1
    plan = plan_of(world)
    assert objects(plan.drops[0]) == [("a.jsonl", new)]
    assert len(sets.taken(world)) == 3


def test_a_file_that_comes_while_a_folder_is_settled_is_not_taken_for_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its event is handled between the listing, which does not have it yet, and its use."""
    put(world, "a.jsonl")
    world.deliver_all()
    listed = settle_set.newest_shards
    came: list[str] = []

    def then_one_comes(*asked: Any) -> Any:
        found = listed(*asked)
        came.extend(put(world, "late.jsonl"))
        world.deliver_all()
        return found

    monkeypatch.setattr(settle_set, "newest_shards", then_one_comes)
    assert settle_set.settle_set("tone", "day", world.plane)
    key = layout.set_folder("tone", "day") + "late.jsonl"
    left = world.set_object(key, came[0])
    assert left is not None
    assert left.status == "unsealed"
    assert sets.report_on(world, key, came[0]) is None


def test_a_late_file_waits_and_after_the_limit_its_uploader_is_told_what_to_do(
    world: World,
) -> None:
    put(world, "a.jsonl")
    seal(world)
    plan_of(world)
    put(world, "late.jsonl")
    world.deliver_all()
    end(world)
    world.clock.advance(3599)
    world.sweep()
    assert sets.report_on(world, layout.seal("tone", "day"), MISSING) is None
    world.clock.advance(2)
    world.sweep()
    body = sets.report_on(world, layout.seal("tone", "day"), MISSING)
    assert body is not None
    told = Rejection.from_bytes(body, where="told")
    assert "1 file waits in incoming/tone/day/, put there after its _SUCCESS was taken" in (
        told.reason
    )
    assert "put incoming/tone/day/_SUCCESS again" in told.remedy


def test_a_seal_that_never_comes_is_told_once_and_may_still_come(world: World) -> None:
    put(world, "a.jsonl", "b.jsonl")
    world.deliver_all()
    world.clock.advance(3601)
    for _ in range(3):
        world.sweep()
    place = layout.rejection("tone", "day/_SUCCESS", MISSING)
    assert len(world.objects.versions[place]) == 1
    told = Rejection.from_bytes(world.objects.versions[place][0][1], where=place)
    assert "2 files wait in incoming/tone/day/ for its _SUCCESS" in told.reason
    assert told.refused_by == "sweep"
    assert seal(world).objects == 2
    assert len(objects(plan_of(world).drops[0])) == 2
    world.sweep()
    assert world.ledger.sets.unsealed_of("tone", limit=9) == []


def test_of_a_folder_too_full_to_be_looked_through_its_uploader_is_told_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdas.logic.survey_set.VERSIONS_PER_SET_MAX", 3)
    put(world, "a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl")
    world.deliver_all()
    world.clock.advance(3601)
    for _ in range(3):
        world.sweep()
    place = layout.rejection("tone", "day/_SUCCESS", MISSING)
    assert len(world.objects.versions[place]) == 1
    refused = seal(world)
    assert refused.status == "rejected"
    assert "over 3 versions of files" in refused.reason


def test_the_limit_counts_from_the_newest_file(world: World) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        put(world, name)
        world.deliver_all()
        world.clock.advance(3000)
        world.sweep()
    assert sets.report_on(world, layout.seal("tone", "day"), MISSING) is None


def test_a_seal_that_waits_at_a_paused_pipeline_is_not_missed(world: World) -> None:
    world.upload("incoming/tone/first.jsonl")
    world.deliver_all()
    put(world, "a.jsonl")
    seal(world)  # waits behind the run that was planned without it
    world.clock.advance(4000)
    world.sweep()
    assert sets.report_on(world, layout.seal("tone", "day"), MISSING) is None


def test_folders_that_a_turn_had_no_time_for_are_the_first_of_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        put(world, "a.jsonl", folder=f"day {number}")
    world.deliver_all()
    seen: list[str] = []

    def slow(folder: Unsealed, *_: object) -> None:
        seen.append(folder.folder)
        world.clock.advance(reconcile.FOLDERS_S - 1)

    monkeypatch.setattr(reconcile, "reconcile_set", slow)
    for _ in range(3):
        world.sweep()
    assert len(seen) == 6
    assert len(set(seen[:5])) == 5


def test_sweep_looks_at_a_bounded_number_of_folders_a_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdas.logic.reconcile.FOLDERS_PER_TURN", 3)
    for number in range(8):
        put(world, "a.jsonl", folder=f"day {number}")
    world.deliver_all()
    world.clock.advance(3601)
    told = []
    for _ in range(3):
        world.sweep()
        told.append(sum("/_SUCCESS@" in key for key in world.objects.versions))
    assert told == [3, 6, 8]


def test_what_a_plan_took_is_not_refused_as_overwritten_before_it_is_marked(world: World) -> None:
    (planned,) = put(world, "a.jsonl")
    drop = seal(world)
    run = world.runs("tone")[0].run
    world.faults.arm(2, "after")  # the plan is put and the seal marked, the file is not
    world.graph.step(run)
    assert world.faults.crashed
    world.faults.disarm()
    assert world.ledger.drops.get(drop.id).status == "planned"  # type: ignore[union-attr]
    put(world, "a.jsonl")
    world.deliver_all()
    world.clock.advance(4000)
    world.sweep()
    world.graph.step(run)
    taken = world.set_object(layout.set_folder("tone", "day") + "a.jsonl", planned)
    assert taken is not None
    assert (taken.status, taken.run) == ("planned", run)


def test_a_crash_between_a_file_and_the_note_of_its_folder_is_mended_by_the_event_again(
    world: World,
) -> None:
    put(world, "a.jsonl")
    world.faults.arm(1, "after")
    world.deliver_all()
    assert world.faults.crashed
    assert world.ledger.sets.unsealed_of("tone", limit=9) == []
    world.deliver_all()
    assert len(world.ledger.sets.unsealed_of("tone", limit=9)) == 1


def test_a_file_that_arrives_while_its_folder_is_forgotten_is_looked_after(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(world, "a.jsonl")
    seal(world)
    plan_of(world)
    forget = Sets.forget

    def forget_late(self: Sets, folder: Unsealed) -> None:
        monkeypatch.setattr(Sets, "forget", forget)
        put(world, "b.jsonl")
        world.deliver_all()  # notes the folder, which is noted already
        forget(self, folder)

    monkeypatch.setattr(Sets, "forget", forget_late)
    world.sweep()
    assert [it.folder for it in world.ledger.sets.unsealed_of("tone", limit=9)] == ["day"]


def test_what_became_of_a_file_is_decided_once(world: World) -> None:
    (version,) = put(world, "a.jsonl")
    world.deliver_all()
    found = world.set_object(layout.set_folder("tone", "day") + "a.jsonl", version)
    assert found is not None
    refused = found.model_copy(update={"status": "rejected", "reason": "overwritten"})
    taken = found.model_copy(update={"status": "planned", "run": "r260304-050607-abcdef"})
    assert world.ledger.sets.mark("tone", "day", refused)
    assert not world.ledger.sets.mark("tone", "day", taken)
    assert world.ledger.sets.objects("tone", "day")[found.id].status == "rejected"


def test_thousands_of_overwritten_files_are_settled_turn_by_turn_before_anybody_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lambdas.logic.settle_set.SETTLED_AT_ONCE", 4)
    for _ in range(11):
        put(world, "a.jsonl")
    world.deliver_all()
    world.clock.advance(3601)
    left = []
    for _ in range(3):
        assert sets.report_on(world, layout.seal("tone", "day"), MISSING) is None
        world.sweep()
        left.append(sum(it.status == "unsealed" for it in sets.known(world).values()))
    assert left == [7, 3, 1]
    assert sets.report_on(world, layout.seal("tone", "day"), MISSING) is not None


def status_of(world: World, name: str, version: str) -> str | None:
    found = world.set_object(layout.set_folder("tone", "day") + name, version)
    return None if found is None else found.status


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("how", ["marker", "for good"])
def test_a_file_that_is_deleted_waits_no_longer_and_its_uploader_reads_why(
    world: World, how: str, *, told: bool
) -> None:
    """A deletion is no event; before its folder was told of as well as after."""
    (gone,) = put(world, "gone.jsonl")
    (stays,) = put(world, "stays.jsonl")
    world.deliver_all()
    if told:
        world.clock.advance(3601)
        world.sweep()
    key = layout.set_folder("tone", "day") + "gone.jsonl"
    world.objects.delete(key) if how == "marker" else world.objects.delete_version(key, gone)
    world.clock.advance(LOOK_EVERY.total_seconds() + 1)
    world.sweep()
    assert status_of(world, "gone.jsonl", gone) == "rejected"
    report = Rejection.from_bytes(sets.report_on(world, key, gone) or b"", where=key)
    assert "deleted before a seal took it" in report.reason
    assert status_of(world, "stays.jsonl", stays) == "unsealed"
    assert world.ledger.sets.unsealed_of("tone", limit=9) != []


def test_a_deleted_file_is_settled_in_time_though_others_keep_coming(world: World) -> None:
    (gone,) = put(world, "gone.jsonl")
    world.deliver_all()
    world.objects.delete(layout.set_folder("tone", "day") + "gone.jsonl")
    for number in range(int(LOOK_EVERY.total_seconds()) // 120 + 1):
        world.clock.advance(120)
        put(world, f"{number}.jsonl")
        world.deliver_all()
        world.sweep()
    assert status_of(world, "gone.jsonl", gone) == "rejected"


def test_a_folder_whose_files_are_all_deleted_is_forgotten(world: World) -> None:
    put(world, "a.jsonl", "b.jsonl")
    world.deliver_all()
    for name in ("a.jsonl", "b.jsonl"):
        world.objects.delete(layout.set_folder("tone", "day") + name)
    world.clock.advance(LOOK_EVERY.total_seconds() + 1)
    world.sweep()
    world.sweep()
    assert world.ledger.sets.unsealed_of("tone", limit=9) == []


def test_a_file_that_is_deleted_while_a_run_may_have_planned_it_is_settled_after(
    world: World,
) -> None:
    (version,) = put(world, "a.jsonl")
    seal(world)
    run = world.runs("tone")[0].run
    world.faults.arm(2, "after")  # the plan is put and the seal marked, the file is not
    world.graph.step(run)
    world.faults.disarm()
    world.objects.delete(layout.set_folder("tone", "day") + "a.jsonl")
    world.clock.advance(LOOK_EVERY.total_seconds() + 1)
    world.sweep()
    assert status_of(world, "a.jsonl", version) == "unsealed"
    world.graph.step(run)
    assert status_of(world, "a.jsonl", version) == "planned"


def test_a_folder_is_listed_now_and_then_not_every_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(world, "a.jsonl")
    world.deliver_all()
    listed: list[str] = []
    look = world.objects.list_versions

    def counted(prefix: str) -> Any:
        listed.append(prefix)
        return look(prefix)

    monkeypatch.setattr(world.objects, "list_versions", counted)
    for _ in range(50):
        world.clock.advance(60)
        world.sweep()
    assert len(listed) == 50 * 60 // LOOK_EVERY.total_seconds()


def test_a_folder_sealed_thousands_of_times_costs_a_turn_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each seal that ever came is listed with its folder; only those that wait matter."""
    for number in range(30):
        put(world, f"{number}.jsonl")
        seal(world)
        plan_of(world)
        end(world)
        world.ledger.pipelines.resume("tone")
    put(world, "late.jsonl")
    world.deliver_all()
    world.clock.advance(3601)
    reads: list[str] = []
    get = world.table.get

    def counted(key: Any) -> Any:
        reads.append(key["pk"])
        return get(key)

    monkeypatch.setattr(world.table, "get", counted)
    world.sweep()
    assert sets.report_on(world, layout.seal("tone", "day"), MISSING) is not None
    assert len(reads) < 30
