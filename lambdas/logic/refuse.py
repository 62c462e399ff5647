"""A refusal in writing: the report that an uploader finds."""

from __future__ import annotations

from contracts import layout
from contracts.rejection import Rejection
from lambdas.control_plane import ControlPlane
from lambdas.logic.upload_key import Refusal, read_upload_key


def report_refusal(
    key: str, version_id: str, refusal: Refusal, plane: ControlPlane, *, run: str | None = None
) -> None:
    """Put the report on an object, over one that is there.

    Args:
        key: the object's key.
        version_id: the object's version.
        refusal: why it is not taken.
        plane: whose bucket.
        run: that refused it while it was planned; None before any run.
    """
    report = Rejection(
        bucket=plane.objects.bucket,
        key=key,
        version_id=version_id,
        refused_by="plan" if run else "intake",
        run=run,
        reason=refusal.reason,
        remedy=refusal.remedy,
        at=plane.clock.now(),
    )
    upload = read_upload_key(key)
    place = layout.rejection(upload.pipeline, upload.rest, version_id)
    plane.objects.put(place, report.to_bytes())
