"""An exported policy is what its manifest says, by the store's own checksums."""

from __future__ import annotations

from contracts.artifact import MANIFEST, ArtifactRef, Manifest
from contracts.errors import ArtifactCorrupt
from contracts.layout import split_s3_uri
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.model import digest
from lambdas.control_plane import ControlPlane


def verify_export(ref: ArtifactRef, below: str, plane: ControlPlane) -> Manifest:
    """Check the export's place, the manifest's digest, then every file's size and sha256.

    Args:
        ref: the export, as its job reported it.
        below: the key prefix that it has to lie under.
        plane: whose bucket it is in.

    Raises:
        ArtifactCorrupt: a file is missing or differs; the message names it.
    """
    try:
        bucket, prefix = split_s3_uri(ref.uri)
    except ValueError as error:
        raise ArtifactCorrupt(f"an export lies in the bucket, not at {ref.uri}") from error
    if bucket != plane.objects.bucket:
        raise ArtifactCorrupt(f"{ref.uri} is not in the pipeline's bucket {plane.objects.bucket}")
    if not prefix.startswith(below):
        raise ArtifactCorrupt(f"{ref.uri} is not under {below}, where this pipeline's exports lie")
    stored = plane.objects.get(prefix + MANIFEST, limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None or digest(stored) != ref.manifest:
        raise ArtifactCorrupt(f"{ref.uri}{MANIFEST} is missing or is not the one reported")
    manifest = Manifest.from_bytes(stored, where=f"{ref.uri}{MANIFEST}")
    for entry in manifest.files:
        head = plane.objects.head(prefix + entry.path)
        if head is None:
            raise ArtifactCorrupt(f"{ref.uri}{entry.path} is missing")
        if head.size != entry.size or head.sha256 != entry.sha256:
            raise ArtifactCorrupt(
                f"{ref.uri}{entry.path} differs from its manifest "
                f"({head.size} bytes, sha256 {head.sha256 or 'not stored'})"
            )
    return manifest
