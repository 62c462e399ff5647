"""`submit`: invoked by Step Functions with a task token."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.adapters.service_errors import typed_service_errors
from lambdas.logic.submit_attempt import Submission, submit_attempt
from lambdas.observing import logger
from lambdas.wiring import control_plane


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:
    """Start one attempt; the task goes on until its job reports."""
    request = Submission.model_validate(event)
    with typed_service_errors():
        job = submit_attempt(request, control_plane())
    logger.info("submitted", run=request.run, job=job)
    return {"job": job}
