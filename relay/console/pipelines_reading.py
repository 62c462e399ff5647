"""What is known of pipelines: their recipes in the bucket, their state in the ledger."""

from __future__ import annotations

from contracts import layout
from contracts.errors import ContractBroken
from contracts.ledger import PipelineRecord
from contracts.limits import DROPS_PER_RUN_MAX
from contracts.model import Contract, digest
from contracts.pipeline import Pipeline
from relay.console.control_plane import ControlPlane

_WAITING_COUNTED = DROPS_PER_RUN_MAX


class Summary(Contract):
    """A pipeline in a list; `unreadable` is why its recipe can't be read."""

    name: str
    registered: bool
    description: str
    current_version: int | None
    paused: bool
    consecutive_failures: int
    unreadable: str = ""

    @property
    def policy(self) -> str:
        """Its current policy for a person."""
        return "none" if self.current_version is None else f"v{self.current_version}"

    @property
    def state(self) -> str:
        """How it is doing, for a person."""
        if not self.registered:
            return "not registered"
        if self.unreadable:
            return f"unreadable: {self.unreadable}"
        if self.paused:
            return "paused"
        return f"{self.consecutive_failures} failed" if self.consecutive_failures else "ok"


class Detail(Contract):
    """A pipeline with all there is to know; `waiting` counts drops, up to a run's worth."""

    summary: Summary
    version: str
    waiting: int
    run: str | None
    pipeline: Pipeline


def summaries(plane: ControlPlane) -> list[Summary]:
    """Every pipeline that is registered or was dropped into, by name."""
    seen = plane.pipelines_seen()
    registered = {
        item["Key"].removeprefix(layout.PIPELINES).removesuffix(".json")
        for item in plane.keys(layout.PIPELINES)
        if item["Key"].endswith(".json")
    }
    return [
        _summary(name, name in registered, seen.get(name), plane)
        for name in sorted(registered | seen.keys())
    ]


def detail(plane: ControlPlane, name: str) -> Detail:
    """One pipeline.

    Raises:
        NotFound: it is not registered.
    """
    body = plane.pipeline_bytes(name)
    lease = plane.logic.ledger.runs.lease(name)
    record = plane.logic.ledger.pipelines.get(name)
    return Detail(
        summary=_summary(name, True, record, plane),
        version=digest(body),
        waiting=len(plane.logic.ledger.drops.waiting(name, limit=_WAITING_COUNTED)),
        run=lease.run if lease else None,
        pipeline=Pipeline.from_bytes(body, where=layout.pipeline(name)),
    )


def _summary(
    name: str, registered: bool, record: PipelineRecord | None, plane: ControlPlane
) -> Summary:
    description = unreadable = ""
    if registered:
        key = layout.pipeline(name)
        try:
            description = Pipeline.from_bytes(plane.pipeline_bytes(name), where=key).description
        except ContractBroken as error:
            unreadable = str(error)
    return Summary(
        name=name,
        registered=registered,
        description=description,
        current_version=record.current_version if record else None,
        paused=record.paused if record else False,
        consecutive_failures=record.consecutive_failures if record else 0,
        unreadable=unreadable,
    )
