"""What runs in a scripted RayJob: it learns its job by the entry point, as the real one does."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stand_in import StandIn

from contracts import layout
from contracts.job import JobSpec

Log = Callable[[str], None]


@dataclass
class JobsInPods:
    """Jobs of a deployed line.

    Attributes:
        seconds: by pipeline, how long each job works; at once by default.
        last_words: by pipeline, the log of a job that dies without a result.
    """

    session: Any
    bucket: str
    seconds: dict[str, float] = field(default_factory=dict)
    last_words: dict[str, list[str]] = field(default_factory=dict)
    began: list[str] = field(default_factory=list)

    def run(self, job: dict[str, Any], stop: threading.Event, log: Log) -> bool:
        """Be the driver of a RayJob; whether it exits by 0."""
        s3 = self.session.client("s3")
        *command, uri = shlex.split(job["spec"]["entrypoint"])
        assert command == ["exec", "python", "-m", "training", "--job"]
        bucket, key = layout.split_s3_uri(uri)
        body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        spec = JobSpec.from_bytes(body, where=key)
        self.began.append(spec.key.job_name)
        log(f"training for {spec.key.job_name}")
        if words := self.last_words.get(spec.pipeline):
            for line in words:
                log(line)
            return False
        seconds = self.seconds.get(spec.pipeline, 0.0)
        stand_in = StandIn(
            self.session,
            self.bucket,
            "",
            seconds=lambda _spec: seconds,
            outcome=lambda _spec: "silent" if stop.is_set() else "succeeded",
            _closed=stop,
        )
        return stand_in.play(s3, spec)
