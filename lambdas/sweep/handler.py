"""`sweep`: invoked every minute by a schedule."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.logic.reconcile import reconcile
from lambdas.observing import logger, metrics
from lambdas.wiring import control_plane


@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Take one turn."""
    seen = reconcile(control_plane())
    logger.info("swept", pipelines=seen["pipelines"], failed=seen["failed"])
    metrics.add_metric("SweptPipelines", MetricUnit.Count, seen["pipelines"])
    metrics.add_metric("SweepFailures", MetricUnit.Count, seen["failed"])
    return seen
