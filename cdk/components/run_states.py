"""The states that talk to a function: ask `decide`, or submit a job and wait for its word."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

from cdk.components.retries import retry_decision, retry_phase
from contracts.model import Contract
from contracts.names import Phase

ANSWER_LIMIT = Duration.minutes(6)
"""Longer than `decide` may take, so that its own error is the one that is seen."""


class RunStates:
    """Makes tasks whose errors all lead to one end."""

    def __init__(
        self,
        scope: Construct,
        submit: lambda_.IFunction,
        decide: lambda_.IFunction,
        failed: sfn.Fail,
    ) -> None:
        self._scope = scope
        self._submit = submit
        self._decide = decide
        self._failed = failed

    def ask(
        self,
        name: str,
        question: str,
        answer: type[Contract],
        *,
        into: str,
        comment: str,
    ) -> tasks.LambdaInvoke:
        """Ask `decide` a question; the answer's fields lie at the path `into`.

        Args:
            name: the state's name.
            question: plan, next, publish or keep.
            answer: the contract that the answer keeps; its fields are what is taken over.
            into: a path such as `$.plan`.
            comment: what happens here, for the operator.
        """
        task = tasks.LambdaInvoke(
            self._scope,
            name,
            comment=comment,
            lambda_function=self._decide,
            payload=sfn.TaskInput.from_object({"question": question, "state.$": "$"}),
            result_selector={f"{field}.$": f"$.Payload.{field}" for field in answer.model_fields},
            result_path=into,
            task_timeout=sfn.Timeout.duration(ANSWER_LIMIT),
            retry_on_service_exceptions=False,
        )
        retry_decision(task)
        return self._guard(task)

    def run_job(
        self, name: str, phase: Phase, *, comment: str, inputs: object
    ) -> tasks.LambdaInvoke:
        """Submit a phase's job and wait until `report` answers the token.

        Args:
            name: the state's name.
            phase: which; its PhaseOutput lies at `$.<phase>` afterwards.
            comment: what happens here, for the operator.
            inputs: PhaseOutputs by phase, or the path where they lie.
        """
        key = "inputs.$" if isinstance(inputs, str) else "inputs"
        told = {
            "run.$": "$.run",
            "pipeline.$": "$.pipeline",
            "round.$": "$.round",
            "phase": phase,
            "token": sfn.JsonPath.task_token,
            key: inputs,
        }
        task = tasks.LambdaInvoke(
            self._scope,
            name,
            comment=comment,
            lambda_function=self._submit,
            integration_pattern=sfn.IntegrationPattern.WAIT_FOR_TASK_TOKEN,
            payload=sfn.TaskInput.from_object(told),
            result_path=f"$.{phase}",
            heartbeat_timeout=sfn.Timeout.at("$.plan.heartbeat_s"),
            task_timeout=sfn.Timeout.at("$.plan.timeout_s"),
            retry_on_service_exceptions=False,
        )
        retry_phase(task)
        return self._guard(task)

    def _guard(self, task: tasks.LambdaInvoke) -> tasks.LambdaInvoke:
        task.add_catch(self._failed, errors=[sfn.Errors.ALL], result_path="$.failure")
        return task
