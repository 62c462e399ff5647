"""A job's desired state, and the marks that its runner leaves beside it."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from contracts.artifact import ArtifactRef
from contracts.hardware import Hardware
from contracts.model import Stored
from contracts.names import AttemptKey, Phase, PipelineName, RunId


class JobSpec(Stored):
    """`job.json`: all that `python -m training` needs to know to run one attempt."""

    run: RunId
    pipeline: PipelineName
    round: int = Field(ge=1)
    phase: Phase
    attempt: int = Field(ge=1)
    nonce: str = Field(min_length=16, description="Echoed in every report: all jobs share a role.")
    bucket: str
    workspace: str = Field(
        pattern=r"^/", description="The run's folder on the shared file system, absolute."
    )
    inputs: dict[str, ArtifactRef] = Field(description="By name: episodes, parent, policy.")
    last_round: bool = Field(description="Whether optimize also exports the policy.")
    hardware: Hardware
    deadline: AwareDatetime = Field(description="The job ends itself then, if nobody did.")
    timeout_s: int | None = Field(
        None,
        gt=0,
        description="From its own start it ends itself after so long, too; None: no sooner.",
        # Without it the bytes are those of a spec that never knew of it.
        exclude_if=lambda value: value is None,
    )
    progress_interval_s: float = Field(gt=0, description="Least time between progress objects.")

    @property
    def key(self) -> AttemptKey:
        """Which attempt this is."""
        return AttemptKey(self.run, self.round, self.phase, self.attempt)


class Claim(Stored):
    """`claim.json`: the agent that runs the job; the first conditional put wins."""

    agent: str
    at: AwareDatetime


class Stop(Stored):
    """`stop.json`: end the job, or never start it."""

    reason: str
    at: AwareDatetime


class Exit(Stored):
    """`exit.json`: the job's process is gone."""

    how: Literal["succeeded", "failed", "stopped", "lost", "refused"]
    detail: str = ""
    at: AwareDatetime
