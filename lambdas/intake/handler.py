"""`intake`: S3 notifications of uploads, by way of the uploads queue."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.batch import work_off
from lambdas.logic.accept_upload import accept_upload
from lambdas.logic.notification import created_objects, read_body
from lambdas.observing import logger, metrics
from lambdas.wiring import control_plane


def take(body: str) -> None:
    """Take in every object of one message."""
    for created in created_objects(read_body(body)):
        outcome = accept_upload(created, control_plane())
        logger.info("upload", outcome=outcome, key=created.key, version_id=created.version_id)
        metrics.add_metric(f"Upload{outcome.capitalize()}", MetricUnit.Count, 1)


@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> Any:  # noqa: ANN401 - Powertools' type
    """Take a batch in, reporting which messages failed."""
    return work_off(event, context, take)
