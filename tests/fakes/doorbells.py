"""The job queue, as far as the runner uses it: a client that keeps what is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass
class FakeJobQueue:
    """Takes `send_message`; `jobs` are the keys of job.json that were rung for."""

    jobs: list[str] = field(default_factory=list)

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> None:
        assert QueueUrl
        body = json.loads(MessageBody)
        assert set(body) == {"job"}
        self.jobs.append(body["job"])
