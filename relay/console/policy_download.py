"""Fetching a published policy: whole and verified, or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from contracts import layout
from contracts.artifact import MANIFEST, Manifest
from contracts.errors import ArtifactCorrupt
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.model import digest
from contracts.policy import PolicyVersion
from relay.console.control_plane import ControlPlane
from relay.console.errors import Conflict

_CHUNK = 1024 * 1024
_MANIFEST_BYTES_MAX = 16 * STATUS_OBJECT_BYTES_MAX


def download(plane: ControlPlane, version: PolicyVersion, folder: Path) -> int:
    """Write a policy version's files into a new folder that `from_pretrained` loads.

    Returns:
        Bytes written.

    Raises:
        Conflict: the folder is there already and not empty.
        ArtifactCorrupt: a file does not match the manifest, or the manifest not its digest.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} is there already; name a new folder")
    bucket, prefix = layout.split_s3_uri(version.policy.uri)
    manifest = _manifest(plane, version, prefix)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for entry in manifest.files:
            target = staging / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            found = _fetch(plane, bucket, f"{prefix}{entry.path}", target)
            if found != (entry.size, entry.sha256):
                raise ArtifactCorrupt(f"{prefix}{entry.path} does not match its manifest")
        if folder.exists():
            folder.rmdir()
        staging.chmod(0o777 & ~_mask())
        staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return sum(entry.size for entry in manifest.files)


def _manifest(plane: ControlPlane, version: PolicyVersion, prefix: str) -> Manifest:
    place = f"{prefix}{MANIFEST}"
    body = plane.get(place, _MANIFEST_BYTES_MAX)
    if body is None or digest(body) != version.policy.manifest:
        raise ArtifactCorrupt(f"{place} is not the manifest that version {version.version} names")
    return Manifest.from_bytes(body, where=place)


def _fetch(plane: ControlPlane, bucket: str, key: str, target: Path) -> tuple[int, str]:
    size, seen = 0, hashlib.sha256()
    body = plane.s3.get_object(Bucket=bucket, Key=key)["Body"]
    with target.open("wb") as file:
        for chunk in body.iter_chunks(_CHUNK):
            size += len(chunk)
            seen.update(chunk)
            file.write(chunk)
    return size, seen.hexdigest()


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
