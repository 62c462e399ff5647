"""A folder as it is right now: which object versions a seal would make one drop of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from contracts import layout
from contracts.counting import counted
from contracts.ledger import SetObject
from contracts.limits import (
    OBJECT_BYTES_MAX,
    OBJECTS_PER_SET_MAX,
    SET_BYTES_MAX,
    VERSIONS_PER_SET_MAX,
)
from contracts.names import drop_id
from contracts.pipeline import DataRules
from contracts.plan import PlannedObject
from lambdas.control_plane import ControlPlane
from lambdas.logic.upload_key import Refusal, is_folder_marker, read_upload_key
from lambdas.ports import StoredVersion

_AGAIN = f"then put {layout.SEAL} again"


class Survey(NamedTuple):
    """What a seal would take, or why it takes nothing at all."""

    objects: tuple[PlannedObject, ...]
    refusal: Refusal | None


def newest_shards(pipeline: str, folder: str, plane: ControlPlane) -> list[StoredVersion] | None:
    """The newest version of every file in a folder, by key; None when there is too much there."""
    prefix = layout.set_folder(pipeline, folder)
    found = list(islice(plane.objects.list_versions(prefix), VERSIONS_PER_SET_MAX + 1))
    if len(found) > VERSIONS_PER_SET_MAX:
        return None
    return [stored for stored in found if stored.newest and _is_shard(stored)]


def survey_set(pipeline: str, folder: str, rules: DataRules, plane: ControlPlane) -> Survey:
    """Look into a folder: all of what is new there is taken, or nothing."""
    there = newest_shards(pipeline, folder, plane)
    known = plane.ledger.sets.objects(pipeline, folder)
    return judge(there, known, rules, plane.objects.bucket)


def judge(
    there: list[StoredVersion] | None,
    known: dict[str, SetObject],
    rules: DataRules,
    bucket: str,
) -> Survey:
    """Decide what of a folder's newest versions a seal takes.

    Args:
        there: newest versions, by key; None for too many to look through.
        known: what the ledger knows of the folder, by object id.
        rules: the pipeline's.
        bucket: part of every object's id.
    """
    if there is None:
        return _refused(
            f"the folder holds over {VERSIONS_PER_SET_MAX:,} versions of files",
            "put the files into a new folder and seal that",
        )
    if not there:
        return _refused(
            "the folder holds no file", f"{layout.SEAL} comes last: put the files, {_AGAIN}"
        )
    fresh = [stored for stored in there if not _is_settled(stored, known, bucket)]
    if not fresh:
        return _refused(
            f"every file of the folder was taken or refused before{_by(known.values())}",
            f"put new files or new versions, {_AGAIN}",
        )
    refusal = _too_much(fresh, rules)
    objects = tuple(
        PlannedObject(key=it.key, version_id=it.version_id, size=it.size) for it in fresh
    )
    return Survey(() if refusal else objects, refusal)


def _too_much(fresh: list[StoredVersion], rules: DataRules) -> Refusal | None:
    if len(fresh) > OBJECTS_PER_SET_MAX:
        return Refusal(
            f"the folder holds {len(fresh):,} files, a set takes {OBJECTS_PER_SET_MAX:,}",
            "write fewer, larger files, or several folders with a seal each",
        )
    limit = min(rules.max_object_bytes, OBJECT_BYTES_MAX)
    large = [stored for stored in fresh if stored.size > limit]
    if large:
        more = counted(len(large) - 1, "more is", "more are")
        return Refusal(
            f"{large[0].key} has {large[0].size} bytes, the pipeline takes {limit} a file"
            + (f"; and {more} too large" if len(large) > 1 else ""),
            f"split or delete what is too large, or raise data.max_object_bytes, {_AGAIN}",
        )
    total = sum(stored.size for stored in fresh)
    if total > SET_BYTES_MAX:
        return Refusal(
            f"the folder holds {total} bytes, a set takes {SET_BYTES_MAX}",
            "put the files into several folders with a seal each",
        )
    return None


def _is_shard(stored: StoredVersion) -> bool:
    if is_folder_marker(stored.key, stored.size):
        return False
    upload = read_upload_key(stored.key)
    return upload.kind == "shard" and upload.refusal is None


def _is_settled(stored: StoredVersion, known: dict[str, SetObject], bucket: str) -> bool:
    found = known.get(drop_id(bucket, stored.key, stored.version_id))
    return found is not None and found.status != "unsealed"


def _by(known: Iterable[SetObject]) -> str:
    runs = sorted({it.run for it in known if it.run})
    return f", last by run {runs[-1]}" if runs else ""


def _refused(reason: str, remedy: str) -> Survey:
    return Survey((), Refusal(reason, remedy))
