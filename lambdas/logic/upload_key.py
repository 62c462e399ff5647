"""Which pipeline an object's key names, and whether it can be a drop."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from contracts.layout import INCOMING
from contracts.names import PIPELINE_PATTERN, is_pipeline_name


class Refusal(NamedTuple):
    """Why an upload is not taken, and what its uploader can do."""

    reason: str
    remedy: str


class UploadKey(NamedTuple):
    """A key below `incoming/`, taken apart; `pipeline` is empty when the key names none."""

    pipeline: str
    rest: str
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
        return UploadKey("", pipeline, refusal)
    return UploadKey(pipeline, rest if pipeline else f"/{rest}", _refusal(pipeline, rest))


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
    if "/" in rest:
        return Refusal(
            "the file lies in a folder below the pipeline's",
            f"put it right below {INCOMING}{pipeline}/",
        )
    return None
