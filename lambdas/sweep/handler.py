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
    turn = reconcile(control_plane())
    for failure in turn.failures:
        logger.error("sweep failed", failure=failure)
    logger.info("swept", pipelines=turn.pipelines, jobs=turn.jobs, failed=len(turn.failures))
    metrics.add_metric("SweptPipelines", MetricUnit.Count, turn.pipelines)
    metrics.add_metric("SweptJobs", MetricUnit.Count, turn.jobs)
    metrics.add_metric("SweepFailures", MetricUnit.Count, len(turn.failures))
    metrics.add_metric("SilentPhases", MetricUnit.Count, turn.silent)
    return {"pipelines": turn.pipelines, "jobs": turn.jobs, "failed": len(turn.failures)}
