"""A bucket and a workspace in which jobs can be written and run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.model import digest
from contracts.names import Phase, drop_id
from contracts.pipeline import Pipeline
from contracts.plan import Parent, Plan, PlannedDrop
from contracts.progress import Progress
from contracts.result import PhaseResult
from training.attempt import Attempt
from training.objects import Objects

BUCKET = "bucket-of-tests"
RUN = "r260101-120000-aaaaaa"
NAME = "preferences"


def recipe(**changes: Any) -> Pipeline:
    """A pipeline that learns in a second; `optimize` in parts, the rest as a whole, by name."""
    model = {"source": "tiny", "vocab_size": 300, "hidden_size": 16, "layers": 1, "heads": 2}
    optimize = {"algorithm": "dpo", "steps": 6, "batch_size": 8, "checkpoint_every": 2}
    value: dict[str, Any] = {
        "name": NAME,
        "seed": 0,
        "model": changes.pop("model", None) or model | {"context": 64},
        "rounds": [{"optimize": optimize | changes.pop("optimize", {})}] * changes.pop("many", 1),
        "hardware": {"cpus": 1},
    }
    return Pipeline.model_validate(value | changes)


@dataclass
class Box:
    """One run: its bucket, its workspace, and the jobs in it."""

    client: Any
    folder: Path
    pipeline: Pipeline = field(default_factory=recipe)
    parent: Parent | None = None
    drops: list[PlannedDrop] = field(default_factory=list)

    def drop(self, name: str, data: bytes) -> PlannedDrop:
        """Upload a file; the plan will name exactly this version."""
        key = f"{layout.INCOMING}{NAME}/{name}"
        version = self.client.put_object(Bucket=BUCKET, Key=key, Body=data)["VersionId"]
        made = PlannedDrop(
            id=drop_id(BUCKET, key, version),
            key=key,
            version_id=version,
            size=len(data),
            accepted_at=datetime.now(UTC),
        )
        self.drops.append(made)
        return made

    def plan(self) -> None:
        """Put the plan of everything dropped so far."""
        plan = Plan(
            run=RUN,
            pipeline_version=digest(self.pipeline.to_bytes()),
            pipeline=self.pipeline,
            drops=tuple(self.drops),
            parent=self.parent,
            created_at=datetime.now(UTC),
        )
        self.client.put_object(Bucket=BUCKET, Key=layout.plan(RUN), Body=plan.to_bytes())

    def job(
        self,
        phase: Phase,
        inputs: dict[str, ArtifactRef] | None = None,
        *,
        attempt: int = 1,
        round_: int = 1,
        **changes: Any,
    ) -> JobSpec:
        """Put a job's spec."""
        values: dict[str, Any] = {
            "deadline": datetime.now(UTC) + timedelta(hours=1),
            "progress_interval_s": 0.05,
            "hardware": self.pipeline.hardware,
            "last_round": round_ == len(self.pipeline.rounds),
        }
        spec = JobSpec(
            run=RUN,
            pipeline=NAME,
            round=round_,
            phase=phase,
            attempt=attempt,
            nonce="n" * 16,
            bucket=BUCKET,
            workspace=str(self.folder / RUN),
            inputs=inputs or {},
            **(values | changes),
        )
        self.client.put_object(Bucket=BUCKET, Key=layout.job(spec.key), Body=spec.to_bytes())
        return spec

    def run(self, spec: JobSpec) -> int:
        """Run a job in this process, without Ray; its exit code."""
        return Attempt(spec, Objects(BUCKET, self.client)).run()

    def start(self, spec: JobSpec, **environment: str) -> subprocess.Popen[bytes]:
        """Start a job as a process of its own; needs a client of a real endpoint."""
        return subprocess.Popen(
            [sys.executable, "-m", "training", "--job", self.uri(spec)],
            env=os.environ
            | {"AWS_ENDPOINT_URL": self.client.meta.endpoint_url, "PYTHONUNBUFFERED": "1"}
            | environment,
        )

    @staticmethod
    def uri(spec: JobSpec) -> str:
        """The address that a job is started with."""
        return layout.s3_uri(BUCKET, layout.job(spec.key))

    def result(self, spec: JobSpec) -> PhaseResult:
        """The job's last word."""
        key = layout.result(spec.key)
        return PhaseResult.from_bytes(self.read(key), where=key)

    def progress(self, spec: JobSpec) -> Progress:
        """The job's last sign of life."""
        key = layout.progress(spec.key)
        return Progress.from_bytes(self.read(key), where=key)

    def read(self, key: str) -> bytes:
        """An object's bytes."""
        data: bytes = self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return data

    def keys(self, prefix: str = "") -> list[str]:
        """Keys of the bucket."""
        found = self.client.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
        return [entry["Key"] for entry in found.get("Contents", [])]

    def finished(self, phase: Phase, inputs: dict[str, ArtifactRef] | None = None) -> PhaseResult:
        """Run a phase that must succeed; its result."""
        spec = self.job(phase, inputs)
        assert self.run(spec) == 0, self.result(spec).failure
        return self.result(spec)
