"""The plan: everything about a run that is decided once and then holds."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.artifact import ArtifactRef
from contracts.model import Contract, Stored
from contracts.names import Digest, Phase, PipelineName, RunId
from contracts.pipeline import Pipeline


class PlannedObject(Contract):
    """An exact version of an object of a set."""

    key: str
    version_id: str
    size: int = Field(ge=0, description="Bytes.")


class PlannedDrop(Contract):
    """An exact version of an accepted object; of a set, the seal, and what lay under it."""

    id: str
    key: str
    version_id: str
    size: int = Field(ge=0, description="Bytes; of a set, all its objects together.")
    accepted_at: AwareDatetime
    objects: tuple[PlannedObject, ...] | None = Field(
        None,
        description="Of a set, the versions listed when it was planned, by key; none where "
        "another seal of the same folder in the same plan has them. None of a plain file.",
    )


class Parent(Contract):
    """The policy version that a run starts from."""

    version: int = Field(ge=0)
    policy: ArtifactRef


class Handoff(Contract):
    """A phase that need not run again: its artifacts, taken over from the run retried."""

    round: int = Field(ge=1)
    phase: Phase
    result_key: str


class Plan(Stored):
    """`runs/<run>/plan.json`, put once."""

    run: RunId
    pipeline_version: Digest
    pipeline: Pipeline
    drops: tuple[PlannedDrop, ...]
    parent: Parent | None = Field(description="None on a pipeline's first run.")
    retry_of: RunId | None = None
    handoffs: tuple[Handoff, ...] = ()
    created_at: AwareDatetime

    @property
    def name(self) -> PipelineName:
        """The pipeline's name."""
        return self.pipeline.name
