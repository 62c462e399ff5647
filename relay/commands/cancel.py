"""`relay cancel`: end a run and its jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.invocation import Invocation
from relay.commands.show import Run
from relay.commands.voice import draw, give

_CAUSE_MAX = 200


def cancel(
    at: Invocation,
    run: Run,
    *,
    reason: Annotated[
        str, typer.Option(help="Stays with the run.")
    ] = "cancelled with relay cancel",
) -> None:
    """Stop a run's execution; its jobs are ended within a minute.

    JSON: {run, outcome: cancelling}.
    """
    from botocore.exceptions import ClientError

    from contracts.ledger import RUN_ENDED
    from relay.console.errors import Conflict, TryAgain

    record = at.plane.run(run)
    if record.status in RUN_ENDED:
        raise Conflict(f"run {run} has ended already: {record.status}")
    try:
        at.plane.sfn.stop_execution(
            executionArn=at.plane.execution_arn(run), error="Cancelled", cause=reason[:_CAUSE_MAX]
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
            raise
        raise TryAgain(f"run {run} is only just starting; cancel it in a moment") from error
    if at.json:
        give({"run": run, "outcome": "cancelling"})
    else:
        draw(f"run {run} is being cancelled; its jobs end within a minute")
