"""References and manifests stay inside their folder."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from contracts.artifact import MANIFEST, ArtifactRef, FileEntry, Manifest

DIGEST = "0" * 64


@pytest.mark.parametrize("path", ["a", "a/b.safetensors", "ü.json", "a b"])
def test_plain_paths_are_taken(path: str) -> None:
    assert FileEntry(path=path, size=0, sha256=DIGEST).path == path


@pytest.mark.parametrize(
    "path", ["", "/a", "a/", "../a", "a/../b", ".", "a//b", "a\\b", "a\nb", "a\x00", "a\u202eb"]
)
def test_paths_that_could_leave_the_folder_are_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="relative path"):
        FileEntry(path=path, size=0, sha256=DIGEST)


@pytest.mark.parametrize("digest", ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64, "0" * 64 + "\n"])
def test_a_digest_is_64_lower_case_hexadecimal_digits(digest: str) -> None:
    with pytest.raises(ValidationError):
        FileEntry(path="a", size=0, sha256=digest)


@pytest.mark.parametrize("paths", [("a", "a"), (MANIFEST,)])
def test_a_manifest_names_each_file_once_and_not_itself(paths: tuple[str, ...]) -> None:
    files = tuple(FileEntry(path=path, size=1, sha256=DIGEST) for path in paths)
    with pytest.raises(ValidationError, match="unique paths"):
        Manifest(kind="checkpoint", run="r", step=0, files=files)


def test_a_manifest_comes_back_the_same() -> None:
    manifest = Manifest(
        kind="episodes", run="r", step=0, files=(FileEntry(path="a", size=1, sha256=DIGEST),)
    )
    assert Manifest.from_bytes(manifest.to_bytes(), where="here") == manifest


@pytest.mark.parametrize(
    "uri", ["s3://b/k", "file://w/k/", "http://b/k/", "/k/", "s3:///", "", "s3://b/k/\n"]
)
def test_a_reference_is_to_a_folder_of_one_of_two_kinds(uri: Any) -> None:
    with pytest.raises(ValidationError):
        ArtifactRef(kind="checkpoint", uri=uri, manifest=DIGEST)
