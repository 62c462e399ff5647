"""A bucket with one small run in it, for jobs of an image to work at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.model import digest
from contracts.names import Phase, drop_id
from contracts.pipeline import Pipeline
from contracts.plan import Plan, PlannedDrop
from contracts.progress import Progress
from contracts.result import PhaseResult

BUCKET = "image-check"
RUN = "r260101-120000-aaaaaa"
STEPS = 300
_PIPELINE = Pipeline.model_validate(
    {
        "name": "image-check",
        "model": {
            "source": "tiny",
            "vocab_size": 300,
            "hidden_size": 16,
            "layers": 1,
            "heads": 2,
            "context": 64,
        },
        # Only a stop makes a checkpoint before the end.
        "rounds": [{"optimize": {"algorithm": "dpo", "steps": STEPS, "checkpoint_every": 100_000}}],
    }
)


class Orders:
    """Writes what jobs are given, reads what they say."""

    def __init__(self, client: Any, workspace: str) -> None:  # noqa: ANN401 - boto3 is untyped
        self._client = client
        self._workspace = workspace

    def plan(self, pairs: bytes) -> None:
        """Make the bucket, drop a file of pairs, and plan a run over it."""
        self._client.create_bucket(Bucket=BUCKET)
        self._client.put_bucket_versioning(
            Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"}
        )
        key = f"{layout.INCOMING}{_PIPELINE.name}/pairs.jsonl"
        version = self._client.put_object(Bucket=BUCKET, Key=key, Body=pairs)["VersionId"]
        now = datetime.now(UTC)
        drop = PlannedDrop(
            id=drop_id(BUCKET, key, version),
            key=key,
            version_id=version,
            size=len(pairs),
            accepted_at=now,
        )
        plan = Plan(
            run=RUN,
            pipeline_version=digest(_PIPELINE.to_bytes()),
            pipeline=_PIPELINE,
            drops=(drop,),
            parent=None,
            created_at=now,
        )
        self._put(layout.plan(RUN), plan.to_bytes())

    def job(
        self, phase: Phase, inputs: Mapping[str, ArtifactRef] | None = None, attempt: int = 1
    ) -> JobSpec:
        """Put a job's spec."""
        spec = JobSpec(
            run=RUN,
            pipeline=_PIPELINE.name,
            round=1,
            phase=phase,
            attempt=attempt,
            nonce="n" * 16,
            bucket=BUCKET,
            workspace=f"{self._workspace}/{RUN}",
            inputs=dict(inputs or {}),
            deadline=datetime.now(UTC) + timedelta(hours=1),
            progress_interval_s=0.1,
            hardware=_PIPELINE.hardware,
            last_round=True,
        )
        self._put(layout.job(spec.key), spec.to_bytes())
        return spec

    def result(self, spec: JobSpec) -> PhaseResult | None:
        """The job's last word; None while there is none."""
        key = layout.result(spec.key)
        found = self._get(key)
        return None if found is None else PhaseResult.from_bytes(found, where=key)

    def step(self, spec: JobSpec) -> int:
        """How far the job says it is."""
        key = layout.progress(spec.key)
        found = self._get(key)
        return 0 if found is None else Progress.from_bytes(found, where=key).step

    def _put(self, key: str, body: bytes) -> None:
        self._client.put_object(Bucket=BUCKET, Key=key, Body=body)

    def _get(self, key: str) -> bytes | None:
        if not self._client.list_objects_v2(Bucket=BUCKET, Prefix=key).get("Contents"):
            return None
        body: bytes = self._client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return body
