"""A published policy and where it came from."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.artifact import ArtifactRef
from contracts.model import Stored
from contracts.names import Digest, PipelineName, RunId


class PolicyVersion(Stored):
    """A checkpoint with its lineage; also the content of `current.json`."""

    pipeline: PipelineName
    version: int = Field(ge=0)
    policy: ArtifactRef
    run: RunId
    parent: int | None = Field(description="Version it was trained from; None for version 0.")
    pipeline_version: Digest
    drops: int = Field(ge=0, description="How many; their exact versions are in the plan.")
    plan_key: str
    metrics: dict[str, float]
    created_at: AwareDatetime
