"""What must hold of the files of sets, whatever happens to them."""

from __future__ import annotations

from contracts import layout
from contracts.ledger import SetObject
from contracts.names import drop_id
from contracts.plan import Plan
from fakes.world import World
from lambdas.logic.upload_key import read_upload_key

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
