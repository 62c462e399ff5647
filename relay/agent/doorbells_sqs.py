"""The job queue: messages that only say where to look."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from relay.agent.ports import Doorbell

if TYPE_CHECKING:
    from botocore.client import BaseClient

log = logging.getLogger("relay.agent")


class SqsDoorbells:
    """`Doorbells` over a boto3 SQS client."""

    def __init__(self, client: BaseClient, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def receive(self, most: int, wait_s: int) -> list[Doorbell]:
        """Wait for messages; one that says nothing readable is left to the dead-letter queue."""
        answer = self._client.receive_message(
            QueueUrl=self._queue_url, MaxNumberOfMessages=min(most, 10), WaitTimeSeconds=wait_s
        )
        doorbells = []
        for message in answer.get("Messages", []):
            job = read_message(message["Body"])
            if job is None:
                log.error("message %s names no job: left in the queue", message["MessageId"])
            else:
                doorbells.append(Doorbell(job, message["ReceiptHandle"]))
        return doorbells

    def delete(self, doorbell: Doorbell) -> None:
        """Remove a message that has been seen to."""
        self._client.delete_message(QueueUrl=self._queue_url, ReceiptHandle=doorbell.receipt)


def read_message(body: str) -> str | None:
    """The key of `job.json` that a message names; None when it names none."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    job = found.get("job") if isinstance(found, dict) else None
    return job if isinstance(job, str) and job else None
