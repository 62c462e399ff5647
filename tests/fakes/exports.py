"""Artifacts as jobs leave them."""

from __future__ import annotations

from contracts.artifact import MANIFEST, ArtifactRef, FileEntry, Manifest
from contracts.layout import s3_uri
from contracts.model import digest
from lambdas.ports import Objects

WEIGHTS = "model.safetensors"


def export(objects: Objects, prefix: str, run: str, body: bytes) -> ArtifactRef:
    """A policy in the bucket: its file, then its manifest."""
    objects.put(prefix + WEIGHTS, body)
    entry = FileEntry(path=WEIGHTS, size=len(body), sha256=digest(body))
    manifest = Manifest(kind="checkpoint", run=run, step=1, files=(entry,)).to_bytes()
    objects.put(prefix + MANIFEST, manifest)
    return ArtifactRef(
        kind="checkpoint", uri=s3_uri(objects.bucket, prefix), manifest=digest(manifest)
    )


def on_cluster(path: str, *, kind: str = "checkpoint") -> ArtifactRef:
    """An artifact on the shared file system, which the control plane never reads."""
    return ArtifactRef.model_validate(
        {"kind": kind, "uri": f"file:///{path}/", "manifest": digest(path.encode())}
    )
