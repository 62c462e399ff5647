"""A stand-in for agent and job: it claims jobs and reports results without training.

For what does not depend on a job's substance: bursts, durations, latencies, lost events. It
speaks only by the bucket and the job queue, as the real agent and job do.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from contracts import layout
from contracts.artifact import MANIFEST, ArtifactRef, FileEntry, Manifest
from contracts.job import Claim, Exit, JobSpec
from contracts.model import digest
from contracts.progress import Progress
from contracts.result import PhaseResult

BETTER = {
    "start_accuracy": 0.5,
    "end_accuracy": 0.9,
    "gain": 0.4,
    "gain_low": 0.3,
    "gain_high": 0.5,
    "pairs": 100.0,
}


@dataclass
class StandIn:
    """Works off a job queue in threads of its own, until it is closed."""

    session: Any
    bucket: str
    queue_url: str
    seconds: Callable[[JobSpec], float] = lambda _spec: 0.0
    outcome: Callable[[JobSpec], str] = lambda _spec: "succeeded"
    progress_every_s: float = 1.0
    may_end: Callable[[], bool] = lambda: True
    seen: list[JobSpec] = field(default_factory=list)
    _closed: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> StandIn:
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(4)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        for thread in self._threads:
            thread.join(20)

    def _work(self) -> None:
        sqs, s3 = self.session.client("sqs"), self.session.client("s3")
        while not self._closed.is_set():
            answer = sqs.receive_message(QueueUrl=self.queue_url, WaitTimeSeconds=1)
            for message in answer.get("Messages", []):
                self._run(s3, json.loads(message["Body"])["job"])
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])

    def _run(self, s3: Any, job_key: str) -> None:
        body = s3.get_object(Bucket=self.bucket, Key=job_key)["Body"].read()
        spec = JobSpec.from_bytes(body, where=job_key)
        claim = Claim(agent="stand-in", at=datetime.now(UTC))
        if not self._put_once(s3, layout.claim(spec.key), claim.to_bytes()):
            return
        if self.play(s3, spec):
            ended = Exit(how="succeeded", at=datetime.now(UTC))
            self._put(s3, layout.exit_(spec.key), ended.to_bytes())

    def play(self, s3: Any, spec: JobSpec) -> bool:
        """Be the job: progress for as long as it takes, then a result, unless it ends silently."""
        self.seen.append(spec)
        started = datetime.now(UTC)
        self._stay(s3, spec)
        if self.outcome(spec) == "silent":
            return False
        result = self._result(s3, spec, started)
        self._put(s3, layout.result(spec.key), result.to_bytes())
        return True

    def _stay(self, s3: Any, spec: JobSpec) -> None:
        end, sequence = time.monotonic() + self.seconds(spec), 0
        while not self._closed.is_set():
            sequence += 1
            progress = Progress(
                run=spec.run,
                round=spec.round,
                phase=spec.phase,
                attempt=spec.attempt,
                nonce=spec.nonce,
                sequence=sequence,
                at=datetime.now(UTC),
                stage="standing in",
            )
            self._put(s3, layout.progress(spec.key), progress.to_bytes())
            left = end - time.monotonic()
            if left <= 0 and self.may_end():
                return
            time.sleep(min(max(left, 0.2), self.progress_every_s))

    def _result(self, s3: Any, spec: JobSpec, started: datetime) -> PhaseResult:
        artifacts = {}
        if spec.phase == "collect":
            artifacts["initial"] = self._export(
                s3, spec, layout.initial_policy(spec.pipeline, spec.run)
            )
        if spec.phase == "optimize" and spec.last_round:
            artifacts["export"] = self._export(s3, spec, layout.policy(spec.pipeline, spec.run))
        return PhaseResult(
            run=spec.run,
            round=spec.round,
            phase=spec.phase,
            attempt=spec.attempt,
            nonce=spec.nonce,
            outcome="no_data" if self.outcome(spec) == "no_data" else "succeeded",
            artifacts=artifacts,
            metrics=BETTER if spec.phase == "evaluate" else {},
            started_at=started,
            ended_at=datetime.now(UTC),
        )

    def _export(self, s3: Any, spec: JobSpec, prefix: str) -> ArtifactRef:
        weights = f"weights of {spec.run}".encode()
        entry = FileEntry(path="model.bin", size=len(weights), sha256=digest(weights))
        manifest = Manifest(kind="checkpoint", run=spec.run, step=1, files=(entry,)).to_bytes()
        self._put(s3, prefix + "model.bin", weights)
        self._put(s3, prefix + MANIFEST, manifest)
        return ArtifactRef(
            kind="checkpoint",
            uri=layout.s3_uri(self.bucket, prefix),
            manifest=digest(manifest),
        )

    def _put(self, s3: Any, key: str, body: bytes) -> None:
        checksum = base64.b64encode(hashlib.sha256(body).digest()).decode()
        s3.put_object(Bucket=self.bucket, Key=key, Body=body, ChecksumSHA256=checksum)

    def _put_once(self, s3: Any, key: str, body: bytes) -> bool:
        try:
            s3.put_object(Bucket=self.bucket, Key=key, Body=body, IfNoneMatch="*")
        except ClientError as error:
            if error.response["Error"]["Code"] == "PreconditionFailed":
                return False
            raise
        return True
