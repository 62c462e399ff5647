"""Step Functions: start and see executions, answer task tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from contracts.limits import CAUSE_MAX
from contracts.model import canonical_json
from lambdas.adapters.service_errors import code_of
from lambdas.ports import ExecutionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.client import BaseClient

_LATE = frozenset({"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"})


class StepFunctions:
    """The executions of one state machine; an execution is named by its run."""

    def __init__(self, client: BaseClient, state_machine_arn: str) -> None:
        self._client = client
        self._machine = state_machine_arn

    def start(self, pipeline: str, run: str) -> None:
        """Start the run's execution; a second start of the same run is no error.

        The input holds nothing that depends on time: the same name with the same bytes is
        what makes StartExecution idempotent.
        """
        try:
            self._client.start_execution(
                stateMachineArn=self._machine,
                name=run,
                input=canonical_json({"pipeline": pipeline, "run": run}).decode(),
            )
        except ClientError as error:
            if code_of(error) != "ExecutionAlreadyExists":
                raise

    def describe(self, run: str) -> ExecutionState | None:
        """The run's execution; None when there is none."""
        arn = self._machine.replace(":stateMachine:", ":execution:", 1) + f":{run}"
        try:
            answer = self._client.describe_execution(executionArn=arn)
        except ClientError as error:
            if code_of(error) == "ExecutionDoesNotExist":
                return None
            raise
        status = answer["status"]
        if status == "PENDING_REDRIVE":
            status = "RUNNING"
        return ExecutionState(status, answer.get("error", ""), answer.get("cause", ""))

    def heartbeat(self, token: str) -> bool:
        """Keep a task alive; False when the token is no longer waited for."""
        return _answered(lambda: self._client.send_task_heartbeat(taskToken=token))

    def succeed(self, token: str, output: bytes) -> bool:
        """Answer a task; False when the token is no longer waited for."""
        return _answered(
            lambda: self._client.send_task_success(taskToken=token, output=output.decode())
        )

    def fail(self, token: str, error: str, cause: str) -> bool:
        """Fail a task; False when the token is no longer waited for."""
        return _answered(
            lambda: self._client.send_task_failure(
                taskToken=token, error=error, cause=cause[:CAUSE_MAX]
            )
        )


def _answered(call: Callable[[], object]) -> bool:
    try:
        call()
    except ClientError as error:
        if code_of(error) in _LATE:
            return False
        raise
    return True
