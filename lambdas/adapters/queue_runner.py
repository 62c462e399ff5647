"""The `queue` runner: jobs are objects, and a message is only a doorbell.

An agent near the machines claims a job by a conditional put of `claim.json`. Both sides write,
then look: `stop` puts `stop.json` before it looks for a claim, the agent puts its claim before
it looks for `stop.json`, so a job that was stopped unclaimed never starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts import layout
from contracts.errors import JobConflict, ServiceUnavailable
from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.limits import STATUS_OBJECT_BYTES_MAX
from contracts.model import canonical_json
from lambdas.adapters.service_errors import typed_service_errors
from lambdas.observing import logger
from lambdas.ports import Clock, Look, Objects

if TYPE_CHECKING:
    from botocore.client import BaseClient

    from contracts.names import AttemptKey


class QueueRunner:
    """Puts desired state into the bucket and rings the job queue."""

    def __init__(self, objects: Objects, sqs: BaseClient, queue_url: str, clock: Clock) -> None:
        self._objects = objects
        self._sqs = sqs
        self._queue_url = queue_url
        self._clock = clock

    @property
    def queues(self) -> bool:
        """No: an agent takes a job as soon as it can."""
        return False

    def start(self, spec: JobSpec) -> None:
        """Put `job.json` if none is there, then ring.

        A bell that does not ring is no error: sweep rings again, and the attempt is not lost.

        Raises:
            JobConflict: another spec is there under this attempt's name.
        """
        key = layout.job(spec.key)
        body = spec.to_bytes()
        if not self._objects.put_if_absent(key, body):
            there = self._objects.get(key, limit=STATUS_OBJECT_BYTES_MAX)
            if there != body:
                raise JobConflict(f"{key} holds another job; this attempt's name is taken")
        try:
            with typed_service_errors():
                self.ring(spec.key)
        except ServiceUnavailable as error:
            logger.warning("the bell does not ring", job=spec.key.job_name, trouble=str(error))

    def ring(self, key: AttemptKey) -> None:
        """Tell the agents that there is a job; repeated bells do no harm."""
        message = canonical_json({"job": layout.job(key)}).decode()
        self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=message)

    def look(self, key: AttemptKey) -> Look:
        """Read the marks beside the job."""
        ended = self._read(layout.exit_(key))
        if ended is not None:
            mark = Exit.from_bytes(ended, where=layout.exit_(key))
            return Look("ended", f"{mark.how}: {mark.detail}" if mark.detail else mark.how)
        claimed = self._read(layout.claim(key))
        if claimed is not None:
            claim = Claim.from_bytes(claimed, where=layout.claim(key))
            return Look("running", f"claimed by {claim.agent}")
        if self._read(layout.stop(key)) is not None:
            return Look("ended", "stopped before an agent claimed it")
        if self._read(layout.job(key)) is None:
            return Look("absent", "no job was put")
        return Look("waiting", "no agent has claimed the job; is one running?")

    def stop(self, key: AttemptKey, reason: str) -> None:
        """Put `stop.json`; whoever runs the job ends it."""
        mark = Stop(reason=reason, at=self._clock.now())
        self._objects.put_if_absent(layout.stop(key), mark.to_bytes())

    def list(self) -> tuple[AttemptKey, ...]:
        """Nothing: the ledger has the jobs of this runner."""
        return ()

    def last_words(self, key: AttemptKey) -> str:
        """Nothing: the agent puts them into the result."""
        return ""

    def _read(self, key: str) -> bytes | None:
        return self._objects.get(key, limit=STATUS_OBJECT_BYTES_MAX)
