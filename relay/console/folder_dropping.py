"""Dropping a folder: its files, and last the seal that makes them one drop."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from contracts import layout
from contracts.names import drop_id
from contracts.pipeline import Pipeline
from lambdas.logic.survey_set import judge
from lambdas.logic.upload_key import Refusal, read_upload_key
from lambdas.ports import StoredVersion
from relay.console.control_plane import ControlPlane
from relay.console.dropping import Dropped
from relay.console.errors import ToolError

PUTS_AT_ONCE = 8


class LocalFile(NamedTuple):
    """A file, and where it goes."""

    path: Path
    key: str
    size: int


class Stored(NamedTuple):
    """What lies at a key now."""

    etag: str
    size: int
    version_id: str


class DroppedSet(Dropped):
    """The seal that was put; or the one of before, when there was nothing to put."""

    files: int
    put: int
    sealed_before: bool = False


class FolderDropping:
    """One folder on its way into the bucket; a second one goes on where the first was cut short."""

    def __init__(self, plane: ControlPlane, folder: Path, pipeline: str, name: str) -> None:
        self._plane, self._folder, self._pipeline, self.name = plane, folder, pipeline, name
        self.there = 0
        self.files: list[LocalFile] = []

    def look(self) -> None:
        """Find the folder's files, as Spark and Hadoop would read them.

        Raises:
            ToolError: the pipeline would refuse the set, and why.
        """
        self.files = list(self._local())
        body = self._plane.pipeline_bytes(self._pipeline)
        rules = Pipeline.from_bytes(body, where=layout.pipeline(self._pipeline)).data
        listed = [StoredVersion(one.key, "", one.size, newest=True) for one in self.files]
        refusal = judge(listed, {}, rules, self._plane.outputs.bucket).refusal
        if refusal is not None:
            raise _refused(str(self._folder), refusal)

    def put(self, say: Callable[[str], None]) -> DroppedSet:
        """Put what is not there yet, then the seal, unless a run has all of it already.

        Args:
            say: is told of what else lies in the folder of the bucket.
        """
        stored = self._stored()
        seal = layout.seal(self._pipeline, self.name)
        others = sorted(set(stored) - {one.key for one in self.files} - {seal})
        others = [key for key in others if read_upload_key(key).kind == "shard"]
        if others:
            say(f"{len(others)} more in the bucket are part of the set: {others[0]}, …")
        lacking = [one for one in self.files if not _is_same(one, stored.get(one.key))]
        self.there = len(self.files) - len(lacking)
        if not lacking:
            before = self._sealed_before(stored)
            if before is not None:
                return before
        self._put_all(lacking)
        answer = self._plane.s3.put_object(
            Bucket=self._plane.outputs.bucket, Key=seal, Body=self._seal_body()
        )
        return self._dropped(answer["VersionId"], put=len(lacking))

    def _local(self) -> Iterator[LocalFile]:
        for path in sorted(self._folder.rglob("*")):
            if not path.is_file():
                continue
            relative = path.relative_to(self._folder).as_posix()
            key = layout.set_folder(self._pipeline, self.name) + relative
            upload = read_upload_key(key)
            if upload.kind != "shard":
                continue
            if upload.refusal is not None:
                raise _refused(relative, upload.refusal)
            yield LocalFile(path, key, path.stat().st_size)

    def _stored(self) -> dict[str, Stored]:
        prefix = layout.set_folder(self._pipeline, self.name)
        pages = self._plane.s3.get_paginator("list_object_versions")
        return {
            item["Key"]: Stored(item["ETag"].strip('"'), item["Size"], item["VersionId"])
            for page in pages.paginate(Bucket=self._plane.outputs.bucket, Prefix=prefix)
            for item in page.get("Versions", [])
            if item["IsLatest"]
        }

    def _sealed_before(self, stored: dict[str, Stored]) -> DroppedSet | None:
        """The seal that took the files as they are, if a run has them all."""
        ledger, bucket = self._plane.logic.ledger, self._plane.outputs.bucket
        known = ledger.sets.objects(self._pipeline, self.name)
        ids = [drop_id(bucket, it.key, stored[it.key].version_id) for it in self.files]
        runs = {known[one].run if one in known else None for one in ids}
        if None in runs:
            return None
        seals = map(ledger.drops.get, ledger.sets.seals(self._pipeline, self.name))
        taken = [seal for seal in seals if seal is not None and seal.run in runs]
        if not taken:
            return None
        newest = max(taken, key=lambda seal: seal.accepted_at)
        return self._dropped(newest.version_id, put=0, sealed_before=True)

    def _put_all(self, files: list[LocalFile]) -> None:
        pool = ThreadPoolExecutor(PUTS_AT_ONCE)
        try:
            for _ in pool.map(self._put_one, files):
                self.there += 1
        finally:
            pool.shutdown(cancel_futures=True)

    def _put_one(self, one: LocalFile) -> None:
        with one.path.open("rb") as body:
            self._plane.s3.put_object(Bucket=self._plane.outputs.bucket, Key=one.key, Body=body)

    def _seal_body(self) -> bytes:
        own = self._folder / layout.SEAL
        return own.read_bytes() if own.is_file() else b""

    def _dropped(self, version: str, *, put: int, sealed_before: bool = False) -> DroppedSet:
        bucket, key = self._plane.outputs.bucket, layout.seal(self._pipeline, self.name)
        return DroppedSet(
            id=drop_id(bucket, key, version),
            pipeline=self._pipeline,
            bucket=bucket,
            key=key,
            version_id=version,
            files=len(self.files),
            put=put,
            sealed_before=sealed_before,
        )


def _is_same(one: LocalFile, stored: Stored | None) -> bool:
    """Whether the object has the file's bytes; S3's tag of a plain put is their MD5."""
    if stored is None or stored.size != one.size:
        return False
    with one.path.open("rb") as body:
        return hashlib.file_digest(body, _md5).hexdigest() == stored.etag


def _md5() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)


def _refused(what: str, refusal: Refusal) -> ToolError:
    return ToolError(f"{what}: {refusal.reason}; {refusal.remedy}")
