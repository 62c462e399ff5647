"""The file system that jobs share: its claim, itself, and what it exports to the bucket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.layout import INCOMING
from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, wrong

DRIVER = "fsx.csi.aws.com"


def claim(name: str, answer: Answer) -> Finding:
    """Whether the claim is bound, and many pods may write."""
    about = f"claim {name}"

    def by(found: Found) -> Finding:
        phase = found.get("status", {}).get("phase", "Pending")
        modes = found.get("spec", {}).get("accessModes", [])
        seen = f"{phase}, {', '.join(modes)}"
        if phase != "Bound":
            remedy = "make the volume that it names: docs/operate/first-deploy.md, the file system"
            return wrong(about, seen, remedy)
        if "ReadWriteMany" not in modes:
            return wrong(about, seen, "claim a file system of many writers, such as FSx for Lustre")
        return ok(about, seen)

    return judge(about, answer, missing="docs/operate/first-deploy.md, the file system", by=by)


def volume_of(claim: Found) -> str:
    """The volume that a claim is bound to."""
    return str(claim.get("spec", {}).get("volumeName", ""))


def file_system_of(volume: Found) -> str:
    """Id of the FSx file system behind a volume; empty when it is of another kind."""
    source: Mapping[str, Any] = volume.get("spec", {}).get("csi", {})
    return str(source.get("volumeHandle", "")) if source.get("driver") == DRIVER else ""


def available(answer: Answer) -> Finding:
    """Whether the file system is at work."""
    about = "file system"

    def by(found: Found) -> Finding:
        there = (found["FileSystems"] or [{}])[0]
        state = there.get("Lifecycle", "")
        size = there.get("StorageCapacity", 0)
        seen = f"{there.get('FileSystemId', '')} {state}, {size} GiB"
        if state not in {"AVAILABLE", "UPDATING"}:
            return wrong(about, seen, "see the file system's page in the FSx console")
        return ok(about, seen)

    return judge(about, answer, missing="the volume names a file system that is gone", by=by)


def no_loop(bucket: str, answer: Answer) -> Finding:
    """Whether nothing that jobs write is exported to where uploads arrive."""
    about = "file system's exports"

    def by(found: Found) -> Finding:
        exports = [one for one in found.get("Associations", []) if _exports(one)]
        paths = [str(one.get("DataRepositoryPath", "")) for one in exports]
        loops = [path for path in paths if _overlap(path, f"s3://{bucket}/{INCOMING}")]
        if loops:
            remedy = (
                "every export would start a run: give the association a prefix outside of "
                f"{INCOMING}, or another bucket"
            )
            return wrong(about, f"{', '.join(loops)} is where uploads arrive", remedy)
        return ok(about, f"to {', '.join(paths)}" if paths else "none")

    return judge(about, answer, missing="the volume names a file system that is gone", by=by)


def _exports(association: Mapping[str, Any]) -> bool:
    return bool(association.get("S3", {}).get("AutoExportPolicy", {}).get("Events"))


def _overlap(one: str, other: str) -> bool:
    one = one.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)
