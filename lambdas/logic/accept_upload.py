"""From a created object to a waiting drop, or a report on why it is none."""

from __future__ import annotations

from typing import Literal

from contracts import layout
from contracts.ledger import DropRecord
from contracts.limits import OBJECT_BYTES_MAX, SNIFF_BYTES, STATUS_OBJECT_BYTES_MAX
from contracts.names import drop_id
from contracts.pipeline import Pipeline
from contracts.rejection import Rejection
from lambdas.control_plane import ControlPlane
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.notification import ObjectCreated
from lambdas.logic.sniff import sniff
from lambdas.logic.upload_key import Refusal, UploadKey, is_folder_marker, read_upload_key

Outcome = Literal["accepted", "known", "refused", "ignored"]


def accept_upload(created: ObjectCreated, plane: ControlPlane) -> Outcome:
    """Take one upload in; repeating it changes nothing.

    The drop is recorded first and the lease tried second, as the end of a run frees the lease
    first and looks for drops second: whoever comes last sees the other.
    """
    if created.bucket != plane.objects.bucket or is_folder_marker(created.key, created.size):
        return "ignored"
    upload = read_upload_key(created.key)
    drop = plane.ledger.drops.get(drop_id(*created[:3]))
    if drop is None:
        refusal = upload.refusal or _look_at(created, upload, plane)
        if refusal is not None:
            _refuse(created, upload, refusal, plane)
            return "refused"
        # Sweep has to know of the pipeline before anything waits for it.
        plane.ledger.pipelines.note(upload.pipeline)
        new = plane.ledger.drops.record_waiting(_record(created, upload, plane))
    elif drop.status == "rejected":
        return "known"
    else:
        new = False
    ensure_run(upload.pipeline, plane)
    return "accepted" if new else "known"


def _look_at(created: ObjectCreated, upload: UploadKey, plane: ControlPlane) -> Refusal | None:
    if created.size == 0:
        return Refusal("the file is empty", "upload at least one record")
    stored = plane.objects.get(layout.pipeline(upload.pipeline), limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None:
        return Refusal(
            f"there is no pipeline {upload.pipeline!r}",
            "register it with `relay pipelines apply FILE`, then upload again",
        )
    pipeline = Pipeline.from_bytes(stored, where=layout.pipeline(upload.pipeline))
    limit = min(pipeline.data.max_object_bytes, OBJECT_BYTES_MAX)
    if created.size > limit:
        return Refusal(
            f"the file has {created.size} bytes, the pipeline takes {limit}",
            "split the file, or raise data.max_object_bytes in the pipeline",
        )
    head = plane.objects.get_range(created.key, created.version_id, SNIFF_BYTES)
    if head is None:
        return Refusal("this version was deleted before it was read", "upload the file again")
    return sniff(head, complete=created.size <= SNIFF_BYTES)


def _record(created: ObjectCreated, upload: UploadKey, plane: ControlPlane) -> DropRecord:
    return DropRecord(
        id=drop_id(*created[:3]),
        pipeline=upload.pipeline,
        key=created.key,
        version_id=created.version_id,
        size=created.size,
        status="waiting",
        accepted_at=plane.clock.now(),
    )


def _refuse(
    created: ObjectCreated, upload: UploadKey, refusal: Refusal, plane: ControlPlane
) -> None:
    report = Rejection(
        bucket=created.bucket,
        key=created.key,
        version_id=created.version_id,
        refused_by="intake",
        reason=refusal.reason,
        remedy=refusal.remedy,
        at=plane.clock.now(),
    )
    place = layout.rejection(upload.pipeline, upload.rest, created.version_id)
    plane.objects.put(place, report.to_bytes())
    rejected = _record(created, upload, plane).model_copy(
        update={"status": "rejected", "reason": refusal.reason}
    )
    plane.ledger.drops.record_rejected(rejected)
