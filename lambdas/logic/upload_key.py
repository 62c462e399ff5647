"""What an object's key makes it: a file, a file of a set, a set's seal, or nothing to take."""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from contracts.layout import INCOMING, SEAL
from contracts.names import PIPELINE_PATTERN, is_pipeline_name

Kind = Literal["file", "shard", "seal", "hidden"]


class Refusal(NamedTuple):
    """Why an upload is not taken, and what its uploader can do."""

    reason: str
    remedy: str


class UploadKey(NamedTuple):
    """A key below `incoming/`, taken apart.

    Attributes:
        pipeline: empty when the key names none.
        rest: the key behind the pipeline.
        folder: of a set's object, the folder right below the pipeline's; else empty.
        kind: a file is a drop, a seal makes one of its folder's shards, hidden is what Spark and
            Hadoop don't read either.
        refusal: why it cannot be taken, whatever it holds.
    """

    pipeline: str
    rest: str
    folder: str
    kind: Kind
    refusal: Refusal | None


def is_folder_marker(key: str, size: int) -> bool:
    """Whether the object only stands for a folder, as consoles make them."""
    return key.endswith("/") and size == 0


def read_upload_key(key: str) -> UploadKey:
    """Take a decoded key apart.

    Raises:
        ValueError: the key is not below `incoming/`.
    """
    if not key.startswith(INCOMING):
        raise ValueError(f"{key!r} is not below {INCOMING}")
    pipeline, slash, rest = key[len(INCOMING) :].partition("/")
    if not slash:
        refusal = Refusal(
            "the key names no pipeline",
            f"put the file at {INCOMING}<pipeline>/<file>",
        )
        return UploadKey("", pipeline, "", "file", refusal)
    rest = rest if pipeline else f"/{rest}"
    folder, below, path = rest.partition("/")
    kind: Kind = _kind_within(path) if below else "file"
    refusal_ = _refusal(pipeline, rest) or _misplaced(pipeline, rest)
    return UploadKey(pipeline, rest, folder if below else "", kind, refusal_)


def _kind_within(path: str) -> Kind:
    if path == SEAL:
        return "seal"
    hidden = any(part.startswith(("_", ".")) and "=" not in part for part in path.split("/"))
    return "hidden" if hidden else "shard"


def _refusal(pipeline: str, rest: str) -> Refusal | None:
    if not is_pipeline_name(pipeline):
        return Refusal(
            f"{pipeline!r} cannot be a pipeline's name",
            f"names match {PIPELINE_PATTERN}; `relay pipelines list` shows those there are",
        )
    if any(part in {".", ".."} for part in rest.split("/")):
        return Refusal(
            "the key has a `.` or `..` step",
            "put the file under a plain name right below the pipeline's folder",
        )
    if any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co"} for letter in rest):
        return Refusal(
            "the key has control or invisible characters",
            "rename the file; spaces, +, % and letters of any script are fine",
        )
    return None


def _misplaced(pipeline: str, rest: str) -> Refusal | None:
    folder, below, _ = rest.partition("/")
    if rest == SEAL:
        return Refusal(
            f"{SEAL} lies right below the pipeline's folder, where it seals nothing",
            f"put the files and, last, {SEAL} into a folder: {INCOMING}{pipeline}/<folder>/{SEAL}",
        )
    if below and (not folder or folder.startswith(("_", "."))):
        return Refusal(
            f"{folder!r} cannot be the name of a set's folder",
            "name the folder with anything that does not begin with `_` or `.`",
        )
    if rest.endswith("/"):
        return Refusal("the key ends in a slash", "give the file a name")
    return None
