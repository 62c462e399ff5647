"""Reports on what was refused, as uploaders find them in the bucket."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from contracts import layout
from contracts.rejection import Rejection
from relay.console.control_plane import ControlPlane


def rejected(plane: ControlPlane, pipeline: str, limit: int) -> list[Rejection]:
    """The newest reports of a pipeline, the newest first."""
    return list(islice(_reports(plane, pipeline), limit))


def _reports(plane: ControlPlane, pipeline: str) -> Iterator[Rejection]:
    """Those of the pipeline's folder; and those named by digest, by the key that they tell."""
    folders = (pipeline, layout.BY_DIGEST)
    listed = [item for one in folders for item in plane.keys(f"{layout.REJECTED}{one}/")]
    for item in sorted(listed, key=lambda item: item["LastModified"], reverse=True):
        body = plane.get(item["Key"])
        if body is None:
            continue
        report = Rejection.from_bytes(body, where=item["Key"])
        own = item["Key"].startswith(f"{layout.REJECTED}{pipeline}/")
        if own or report.key.startswith(f"{layout.INCOMING}{pipeline}/"):
            yield report
