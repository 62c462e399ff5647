"""Making a folder's manifest, and holding a folder to it."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from typing import Literal

from contracts.artifact import MANIFEST, FileEntry, Manifest
from contracts.errors import ArtifactCorrupt, ContractBroken
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.model import digest

Kind = Literal["checkpoint", "episodes"]
_CHUNK_BYTES = 4 * 1024 * 1024


def file_digest(path: Path) -> str:
    """Hexadecimal sha256 of a file, read in pieces."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


def describe_folder(folder: Path, *, kind: Kind, run: str, step: int) -> Manifest:
    """List every file below `folder` with its size and digest."""
    entries = tuple(
        FileEntry(
            path=path.relative_to(folder).as_posix(),
            size=path.stat().st_size,
            sha256=file_digest(path),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )
    return Manifest(kind=kind, run=run, step=step, files=entries)


def read_manifest(folder: Path, *, expected: str | None) -> Manifest:
    """Read a folder's manifest.

    Args:
        folder: the artifact's folder.
        expected: sha256 that the manifest's bytes must have; None when nobody knows it.

    Raises:
        ArtifactCorrupt: there is none, it cannot be read, or it is another one.
    """
    path = folder / MANIFEST
    if not path.is_file() or path.is_symlink():
        raise ArtifactCorrupt(f"{folder} has no {MANIFEST}, so it was never completed")
    if path.stat().st_size > STATUS_OBJECT_BYTES_MAX:
        raise ArtifactCorrupt(f"{path} is over {STATUS_OBJECT_BYTES_MAX} bytes")
    data = path.read_bytes()
    if expected is not None and digest(data) != expected:
        raise ArtifactCorrupt(
            f"{path} has sha256 {digest(data)}, but {expected} was handed on; "
            "retry the run from an earlier phase"
        )
    try:
        return Manifest.from_bytes(data, where=str(path))
    except ContractBroken as error:
        raise ArtifactCorrupt(str(error)) from error


def hold_to_manifest(folder: Path, manifest: Manifest) -> None:
    """Compare a folder with its manifest: exactly these files, plain, with these bytes.

    Raises:
        ArtifactCorrupt: names the first file that differs, is missing, or is not listed.
    """
    present = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    extra = present - {entry.path for entry in manifest.files} - {MANIFEST}
    if extra:
        raise ArtifactCorrupt(f"{folder / min(extra)} is not listed in the manifest")
    for entry in manifest.files:
        _hold_file(folder / entry.path, entry)


def _hold_file(path: Path, entry: FileEntry) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError as error:
        raise ArtifactCorrupt(f"{path} is listed in the manifest but missing") from error
    if not stat.S_ISREG(found.st_mode):
        raise ArtifactCorrupt(f"{path} is not a plain file")
    if found.st_size != entry.size:
        raise ArtifactCorrupt(f"{path} has {found.st_size} bytes, the manifest says {entry.size}")
    if file_digest(path) != entry.sha256:
        raise ArtifactCorrupt(f"{path} does not have the manifest's sha256: its bytes changed")
