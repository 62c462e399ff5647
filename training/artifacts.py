"""Artifacts between the bucket and the workspace, verified on the way in."""

from __future__ import annotations

import shutil
from pathlib import Path

from contracts import layout
from contracts.artifact import MANIFEST, ArtifactRef, Manifest
from contracts.errors import ArtifactCorrupt, AttemptFenced, ContractBroken, DataUnusable
from contracts.job import JobSpec
from contracts.model import digest
from training.assignment import Assignment
from training.checkpoints import durable
from training.checkpoints.folders import STAGING, folder_of, verify_folder
from training.checkpoints.manifests import hold_to_manifest
from training.events import Export
from training.objects import Objects


def bring(objects: Objects, ref: ArtifactRef, into: Path) -> Path:
    """Verify an artifact, wherever it lies, and say in which local folder.

    Args:
        objects: the bucket.
        ref: what was handed on.
        into: where an artifact of the bucket is copied to; appears only once it verified.

    Raises:
        ArtifactCorrupt: a file is not what the manifest, or the manifest not what `ref`, says.
    """
    if ref.uri.startswith("file://"):
        folder = folder_of(ref)
        verify_folder(folder, ref)
        return folder
    bucket, prefix = layout.split_s3_uri(ref.uri)
    if bucket != objects.bucket:
        raise ArtifactCorrupt(f"{ref.uri} lies outside the job's bucket {objects.bucket}")
    return _fetch(objects, prefix, ref, into)


def _fetch(objects: Objects, prefix: str, ref: ArtifactRef, into: Path) -> Path:
    staging = into.with_name(STAGING + into.name)
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        data = objects.get(prefix + MANIFEST)
        if digest(data) != ref.manifest:
            raise ArtifactCorrupt(f"{ref.uri}{MANIFEST} is not the one that was handed on")
        manifest = _parse(data, ref)
        (staging / MANIFEST).write_bytes(data)
        for entry in manifest.files:
            path = staging / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            objects.download(prefix + entry.path, path)
        hold_to_manifest(staging, manifest)
        durable.sync_tree(staging)
        durable.publish_folder(staging, into)
    except DataUnusable as error:
        raise ArtifactCorrupt(f"a file of {ref.uri} is missing: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return into


def _parse(data: bytes, ref: ArtifactRef) -> Manifest:
    try:
        manifest = Manifest.from_bytes(data, where=ref.uri + MANIFEST)
    except ContractBroken as error:
        raise ArtifactCorrupt(str(error)) from error
    if manifest.kind != ref.kind:
        raise ArtifactCorrupt(f"{ref.uri} holds {manifest.kind}, but {ref.kind} was handed on")
    return manifest


def send(objects: Objects, export: Export, assignment: Assignment) -> ArtifactRef:
    """Copy a committed folder into the bucket, its manifest last.

    Raises:
        ArtifactCorrupt: the folder changed since it was committed.
        AttemptFenced: a newer attempt of the phase exists, and the manifest is its to write.
    """
    manifest = verify_folder(export.folder, export.ref)
    for entry in manifest.files:
        objects.upload(export.prefix + entry.path, export.folder / entry.path, sha256=entry.sha256)
    refuse_if_fenced(objects, assignment)
    objects.upload(export.prefix + MANIFEST, export.folder / MANIFEST, sha256=export.ref.manifest)
    return ArtifactRef(
        kind=export.ref.kind,
        uri=layout.s3_uri(objects.bucket, export.prefix),
        manifest=export.ref.manifest,
    )


def refuse_if_stopped(objects: Objects, spec: JobSpec) -> None:
    """Make sure that nobody has stopped the attempt before it began.

    Raises:
        AttemptFenced: somebody has.
    """
    if objects.exists(layout.stop(spec.key)):
        raise AttemptFenced(f"{spec.key.job_name} was stopped before it began")


def refuse_if_fenced(objects: Objects, assignment: Assignment) -> None:
    """Make sure that no newer attempt has been submitted.

    Raises:
        AttemptFenced: one has.
    """
    key = assignment.spec.key
    following = key._replace(attempt=key.attempt + 1)
    if objects.exists(layout.job(following)):
        raise AttemptFenced(f"{key.job_name} has been replaced by {following.job_name}")
