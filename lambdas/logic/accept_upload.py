"""From a created object to a waiting drop, or a report on why it is none."""

from __future__ import annotations

from typing import Literal

from contracts import layout
from contracts.counting import counted
from contracts.errors import DropRefused
from contracts.ledger import DropRecord
from contracts.limits import OBJECT_BYTES_MAX, SNIFF_BYTES, STATUS_OBJECT_BYTES_MAX
from contracts.names import drop_id
from contracts.pipeline import DataRules, Pipeline
from lambdas.control_plane import ControlPlane
from lambdas.logic.accept_shard import accept_shard
from lambdas.logic.ensure_run import ensure_run
from lambdas.logic.notification import ObjectCreated
from lambdas.logic.refuse import report_refusal
from lambdas.logic.sniff import sniff
from lambdas.logic.survey_set import survey_set
from lambdas.logic.upload_key import Refusal, UploadKey, is_folder_marker, read_upload_key

Outcome = Literal["accepted", "known", "refused", "ignored", "unsealed"]


def accept_upload(created: ObjectCreated, plane: ControlPlane) -> Outcome:
    """Take one upload in; repeating it changes nothing.

    A drop is recorded first and the lease tried second, as the end of a run frees the lease
    first and looks for drops second: whoever comes last sees the other.
    """
    if created.bucket != plane.objects.bucket or is_folder_marker(created.key, created.size):
        return "ignored"
    upload = read_upload_key(created.key)
    if upload.kind == "hidden" and upload.refusal is None:
        return "ignored"
    drop = plane.ledger.drops.get(drop_id(*created[:3]))
    if drop is not None:
        if drop.status != "rejected":
            ensure_run(upload.pipeline, plane)
        return "known"
    rules = upload.refusal or _rules_of(upload.pipeline, plane)
    if upload.kind == "shard" and upload.refusal is None:
        # Only its seal makes a set a drop, so only the seal is refused where there is no
        # pipeline: a file refused by itself could still be taken by a later seal.
        known = DataRules() if isinstance(rules, Refusal) else rules
        return accept_shard(created, upload, known, plane)
    if isinstance(rules, Refusal):
        return _refuse(created, upload, rules, plane)
    return _accept_drop(created, upload, rules, plane)


def _accept_drop(
    created: ObjectCreated, upload: UploadKey, rules: DataRules, plane: ControlPlane
) -> Outcome:
    record = _record(created, upload, plane)
    if upload.kind == "seal":
        survey = survey_set(upload.pipeline, upload.folder, rules, plane)
        refusal = survey.refusal
        size = sum(stored.size for stored in survey.objects)
        record = record.model_copy(update={"size": size, "objects": len(survey.objects)})
    else:
        refusal = _look_at(created, rules, plane)
    if refusal is not None:
        return _refuse(created, upload, refusal, plane)
    # Sweep has to know of the pipeline before anything waits for it.
    plane.ledger.pipelines.note(upload.pipeline)
    new = plane.ledger.drops.record_waiting(record, folder=upload.folder)
    ensure_run(upload.pipeline, plane)
    return "accepted" if new else "known"


def _rules_of(pipeline: str, plane: ControlPlane) -> DataRules | Refusal:
    key = layout.pipeline(pipeline)
    stored = plane.objects.get(key, limit=STATUS_OBJECT_BYTES_MAX)
    if stored is None:
        return Refusal(
            f"there is no pipeline {pipeline!r}",
            "register it with `relay pipelines apply FILE`, then upload again",
        )
    return Pipeline.from_bytes(stored, where=key).data


def _look_at(created: ObjectCreated, rules: DataRules, plane: ControlPlane) -> Refusal | None:
    if created.size == 0:
        return Refusal("the file is empty", "upload at least one record")
    limit = min(rules.max_object_bytes, OBJECT_BYTES_MAX)
    if created.size > limit:
        return Refusal(
            f"the file has {counted(created.size, 'byte')}, the pipeline takes {limit}",
            "split the file, or raise data.max_object_bytes in the pipeline",
        )
    try:
        head = plane.objects.get_range(created.key, created.version_id, SNIFF_BYTES)
    except DropRefused as error:
        return Refusal(
            f"the file cannot be read: {error}",
            "let Relay's roles use the file's KMS key and its storage class be readable at once, "
            "then upload the file again",
        )
    if head is None:
        return Refusal("this version was deleted before it was read", "upload the file again")
    return sniff(head)


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
) -> Outcome:
    report_refusal(created.key, created.version_id, refusal, plane)
    rejected = _record(created, upload, plane).model_copy(
        update={"status": "rejected", "reason": refusal.reason}
    )
    plane.ledger.drops.record_rejected(rejected)
    return "refused"
