"""`report`: jobs' objects and executions' ends, by way of the reports queue."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from contracts import layout
from lambdas.batch import work_off
from lambdas.logic.execution_event import ended_run
from lambdas.logic.hear_end import hear_end
from lambdas.logic.hear_job import hear_progress, hear_result
from lambdas.logic.node_event import hear_node, node_event
from lambdas.logic.notification import ObjectCreated, created_objects, read_body
from lambdas.observing import logger, metrics
from lambdas.wiring import control_plane


def hear(message: str) -> None:
    """Hear one message."""
    body = read_body(message)
    run = ended_run(body)
    if run is not None:
        heard = hear_end(run, control_plane())
        logger.info("execution ended", run=run, heard=heard)
        return
    event = node_event(body)
    if event is not None:
        noted = hear_node(event, control_plane())
        logger.info("cluster", told=event.words, noted=noted)
        metrics.add_metric("NodeEvents", MetricUnit.Count, 1)
        return
    for created in created_objects(body):
        hear_object(created)


def hear_object(created: ObjectCreated) -> None:
    """Hear a progress or result object; others are none of ours."""
    found = layout.parse_status_key(created.key)
    if found is None or created.bucket != control_plane().objects.bucket:
        logger.warning("ignored", key=created.key)
        metrics.add_metric("ReportIgnored", MetricUnit.Count, 1)
        return
    key, name = found
    hear_one = hear_result if name == layout.RESULT else hear_progress
    heard = hear_one(key, control_plane())
    logger.info("report", run=key.run, job=key.job_name, object=name, heard=heard)
    metrics.add_metric(f"Report{heard.capitalize()}", MetricUnit.Count, 1)


@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> Any:  # noqa: ANN401 - Powertools' type
    """Hear a batch, reporting which messages failed."""
    return work_off(event, context, hear)
