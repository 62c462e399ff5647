"""Writes that survive a crash: contents before names, and the folder after both."""

from __future__ import annotations

import os
from pathlib import Path


def sync_file(path: Path) -> None:
    """Bring a file's contents to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Bring a folder's names to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Bring every file and folder below `folder`, and itself, to the disk."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            sync_folder(path)
        else:
            sync_file(path)
    sync_folder(folder)


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file in place; a crash may leave a part of it."""
    path.write_bytes(data)
    sync_file(path)


def swap(path: Path, data: bytes, *, writer: str) -> None:
    """Replace a small file as a whole: a reader sees the old bytes or the new.

    Args:
        path: the file.
        data: its new bytes.
        writer: distinguishes the staging names of concurrent writers.
    """
    staging = path.with_name(f".{path.name}.{writer}")
    write_synced(staging, data)
    staging.replace(path)
    sync_folder(path.parent)


def publish_folder(staging: Path, target: Path) -> None:
    """Give a complete, synced folder its name, in one step.

    Raises:
        OSError: `target` exists and is not an empty folder, or the file system refuses.
    """
    staging.rename(target)
    sync_folder(target.parent)
