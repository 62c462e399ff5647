"""An artifact's folder: filled in a staging place, sealed by its manifest, then named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from contracts.artifact import MANIFEST, ArtifactRef, Manifest
from contracts.errors import ArtifactCorrupt
from contracts.model import digest
from training.checkpoints import durable
from training.checkpoints.manifests import (
    Kind,
    describe_folder,
    hold_to_manifest,
    read_manifest,
)

STAGING = ".staging-"


def commit_folder(
    target: Path, fill: Callable[[Path], None], *, kind: Kind, run: str, step: int = 0
) -> ArtifactRef:
    """Make `target` appear, complete.

    A crash at any point leaves either nothing under that name, or all of it.

    Args:
        target: the folder to make; its parent is made when missing.
        fill: writes the contents into the folder it is given.
        kind: what the artifact is.
        run: the run that makes it.
        step: optimiser step of a checkpoint.

    Raises:
        OSError: the disk refuses, or `target` exists already; the staging folder is removed.
    """
    staging = target.with_name(STAGING + target.name)
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        fill(staging)
        durable.sync_tree(staging)
        manifest = describe_folder(staging, kind=kind, run=run, step=step).to_bytes()
        durable.write_synced(staging / MANIFEST, manifest)
        durable.sync_folder(staging)
        durable.publish_folder(staging, target)
    except BaseException:
        # Whatever stops the writing, also a signal, must leave no half of a folder behind.
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return ArtifactRef(kind=kind, uri=folder_uri(target), manifest=digest(manifest))


def folder_uri(folder: Path) -> str:
    """`file://` address of a folder, ending in a slash."""
    return folder.absolute().as_uri() + "/"


def folder_of(ref: ArtifactRef) -> Path:
    """Folder of a `file://` artifact.

    Raises:
        ArtifactCorrupt: it lies elsewhere.
    """
    parts = urlsplit(ref.uri)
    if parts.scheme != "file":
        raise ArtifactCorrupt(f"{ref.uri} is not on the shared file system")
    return Path(unquote(parts.path))


def verify_folder(folder: Path, ref: ArtifactRef) -> Manifest:
    """Hold a folder to the artifact it is said to be.

    Raises:
        ArtifactCorrupt: manifest, kind or a file is not what was handed on.
    """
    manifest = read_manifest(folder, expected=ref.manifest)
    if manifest.kind != ref.kind:
        raise ArtifactCorrupt(f"{folder} holds {manifest.kind}, but {ref.kind} was handed on")
    hold_to_manifest(folder, manifest)
    return manifest
