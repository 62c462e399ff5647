"""`decide`: three pure decisions, asked by Step Functions."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from contracts.question import Question
from lambdas.adapters.service_errors import typed_service_errors
from lambdas.logic.answer_question import answer_question
from lambdas.observing import logger
from lambdas.time_left import TimeLeft
from lambdas.wiring import control_plane

RESERVE_S = 30.0
"""The longest step that may be under way when the time is over: one large set."""


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one question about a run."""
    asked = Question.model_validate(event)
    plane = control_plane()
    left = TimeLeft.of_call(context, plane.clock, reserve_s=RESERVE_S)
    with typed_service_errors():
        answer = answer_question(asked, plane, left)
    logger.info("decided", run=asked.state.run, question=asked.question)
    return answer.model_dump(mode="json")
