"""Reports on what was refused, as uploaders find them in the bucket."""

from __future__ import annotations

from contracts import layout
from contracts.rejection import Rejection
from relay.console.control_plane import ControlPlane


def rejected(plane: ControlPlane, pipeline: str, limit: int) -> list[Rejection]:
    """The newest reports of a pipeline, the newest first."""
    listed = plane.keys(f"{layout.REJECTED}{pipeline}/")
    newest = sorted(listed, key=lambda item: item["LastModified"], reverse=True)[:limit]
    bodies = [(item["Key"], plane.get(item["Key"])) for item in newest]
    return [Rejection.from_bytes(body, where=key) for key, body in bodies if body is not None]
