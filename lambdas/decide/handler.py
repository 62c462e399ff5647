"""`decide`: three pure decisions, asked by Step Functions."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from contracts.question import Question
from lambdas.adapters.service_errors import typed_service_errors
from lambdas.logic.answer_question import answer_question
from lambdas.observing import logger
from lambdas.wiring import control_plane


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one question about a run."""
    asked = Question.model_validate(event)
    with typed_service_errors():
        answer = answer_question(asked, control_plane())
    logger.info("decided", run=asked.state.run, question=asked.question)
    return answer.model_dump(mode="json")
