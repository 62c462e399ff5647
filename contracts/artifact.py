"""What phases hand on: a reference, and the manifest it is verified by."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from contracts.model import Contract, Stored
from contracts.names import Digest

MANIFEST = "manifest.json"


def _stays_inside(path: str) -> str:
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts) or not path.isprintable() or "\\" in path:
        raise ValueError(f"{path!r} must be a plain relative path below the manifest's folder")
    return path


RelativePath = Annotated[str, AfterValidator(_stays_inside)]


class FileEntry(Contract):
    """One file under a manifest."""

    path: RelativePath = Field(description="Path below the manifest's folder, with slashes.")
    size: int = Field(ge=0, description="Bytes.")
    sha256: Digest


class Manifest(Stored):
    """Every file of an artifact; written last, so that its presence means completeness."""

    kind: Literal["checkpoint", "episodes"]
    run: str
    step: int = Field(ge=0, description="Optimiser step of a checkpoint; 0 for episodes.")
    files: tuple[FileEntry, ...]

    @model_validator(mode="after")
    def _paths_are_unique(self) -> Self:
        paths = [entry.path for entry in self.files]
        if len(set(paths)) != len(paths) or MANIFEST in paths:
            raise ValueError("files must have unique paths, and not name the manifest itself")
        return self


class ArtifactRef(Contract):
    """Where an artifact lies, and the sha256 of its manifest's bytes."""

    kind: Literal["checkpoint", "episodes"]
    uri: str = Field(
        pattern=r"^(file:///|s3://).+/$",
        description="The folder, ending in a slash: file:// on the shared file system, or s3://.",
    )
    manifest: Digest
