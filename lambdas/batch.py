"""A queue's batch: every message on its own, and a failed one stays in the queue, with a log.

A call that is cut off gives the whole batch back, what was done with it too, and each message may
come back a few times only. So none is begun that there may be no time for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.adapters.clock import SystemClock
from lambdas.observing import logger
from lambdas.time_left import TimeLeft

LONGEST_S = 8.0
"""What the slowest message may take: the end of a run that goes on marking its drops."""


def work_off(event: dict[str, Any], context: LambdaContext, see_to: Callable[[str], None]) -> Any:  # noqa: ANN401 - Powertools' type
    """Call `see_to` with each message's body; report which messages failed, or were not begun."""
    left = TimeLeft.of_call(context, SystemClock(), reserve_s=LONGEST_S)

    def see_to_record(record: SQSRecord) -> None:
        try:
            left.demand("a batch of messages")
            see_to(record.body)
        except Exception:
            # Whatever it is, the batch-mates go on, and the queue tries this one again.
            logger.exception("a message failed", message_id=record.message_id)
            raise

    return process_partial_response(
        event=event,
        record_handler=see_to_record,
        processor=BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False),
        context=context,
    )
