"""What must hold of the files of sets, whatever happens to them."""

from __future__ import annotations

from contracts import layout
from contracts.ledger import DropRecord, SetObject
from contracts.names import drop_id
from contracts.plan import Plan, PlannedDrop
from contracts.rejection import Rejection
from fakes.world import World
from lambdas.logic.upload_key import read_upload_key

ROWS = b'{"messages": []}\n'
Version = tuple[str, str]
"""Key and version of an object."""


def owned_plans(world: World) -> list[Plan]:
    """Plans whose drops are theirs by the ledger, retries aside."""
    found = []
    for key, versions in world.objects.versions.items():
        if key.startswith(layout.RUNS) and key.endswith("/plan.json"):
            plan = Plan.from_bytes(versions[-1][1], where=key)
            if plan.retry_of is None:
                found.append(plan)
    return found


def taken(world: World) -> dict[Version, str]:
    """Every file of a set that a plan took, with the run; fails when two did."""
    owners: dict[Version, str] = {}
    for plan in owned_plans(world):
        for drop in plan.drops:
            record = world.ledger.drops.get(drop.id)
            assert record is not None
            if record.run != plan.run:
                continue
            for one in drop.objects or ():
                version = (one.key, one.version_id)
                assert version not in owners, f"I2: {version} in {plan.run} and {owners[version]}"
                owners[version] = plan.run
    return owners


def newest_in(world: World, folder: str) -> set[Version]:
    """The newest version of every file of a folder of the pipeline `tone`."""
    listed = world.objects.list_versions(layout.set_folder("tone", folder))
    kinds = {it: read_upload_key(it.key) for it in listed if it.newest}
    return {
        (it.key, it.version_id)
        for it, upload in kinds.items()
        if upload.kind == "shard" and upload.refusal is None
    }


def known(world: World) -> dict[Version, SetObject]:
    """What the ledger knows of files of sets."""
    items = [item for (_, sk), item in world.table.items.items() if sk.startswith("OBJECT#")]
    objects = [SetObject.model_validate(item) for item in items]
    for one in objects:
        assert one.id == drop_id(world.objects.bucket, one.key, one.version_id)
    return {(one.key, one.version_id): one for one in objects}


def report_on(world: World, key: str, version: str) -> bytes | None:
    """The report under `rejected/`, or None."""
    upload = read_upload_key(key)
    place = layout.rejection(upload.pipeline, upload.rest, version)
    return world.objects.get(place, limit=1 << 30)


def put(world: World, *names: str, folder: str = "day", body: bytes = ROWS) -> list[str]:
    """Upload files of a set; their versions."""
    place = layout.set_folder("tone", folder)
    return [world.upload(place + name, body) for name in names]


def seal(world: World, folder: str = "day", body: bytes = b"") -> DropRecord:
    """Put a seal and let it be heard; what became of it."""
    key = layout.seal("tone", folder)
    version = world.upload(key, body)
    world.deliver_all()
    found = world.drop(key, version)
    assert found is not None
    return found


def plan_of(world: World, run: str | None = None) -> Plan:
    """Plan the newest run, or another."""
    run = run or world.runs("tone")[-1].run
    world.graph.step(run)
    body = world.objects.get(layout.plan(run), limit=1 << 30)
    assert body is not None, f"{run} was not planned"
    return Plan.from_bytes(body, where=run)


def end(world: World) -> None:
    """Stop what runs, so that the next run may come."""
    for run in world.graph.running():
        world.graph.abort(run)
    world.tell_ends()
    world.deliver_all()


def objects(drop: PlannedDrop) -> list[tuple[str, str]]:
    return [(one.key.split("/", 3)[3], one.version_id) for one in drop.objects or ()]


def report(world: World, drop: DropRecord) -> Rejection:
    body = report_on(world, drop.key, drop.version_id)
    assert body is not None
    return Rejection.from_bytes(body, where=drop.key)
