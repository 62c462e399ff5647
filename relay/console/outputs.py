"""Where a deployed control plane's parts are: the outputs of its stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from botocore.exceptions import ClientError
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_pascal

from relay.console.errors import NotFound, TryAgain

if TYPE_CHECKING:
    from botocore.client import BaseClient


class Outputs(BaseModel):
    """The stack's outputs that the tool and the agent use; others are left alone.

    Queue and roles of jobs are told by a stack whose jobs are run by agents.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_pascal, populate_by_name=True
    )

    bucket: str
    ledger_table: str
    state_machine_arn: str
    uploads_queue_url: str
    uploads_dead_letter_queue_url: str
    reports_queue_url: str
    reports_dead_letter_queue_url: str
    job_queue_url: str = ""
    job_role_arn: str = ""
    agent_role_arn: str = ""
    workspace_root: str
    progress_interval_s: float

    @classmethod
    def of_stack(cls, cloudformation: BaseClient, stack: str) -> Self:
        """Ask CloudFormation.

        Raises:
            NotFound: there is no such stack, or it is not a Relay control plane.
            TryAgain: the stack is still being created.
        """
        try:
            (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationError":
                raise
            raise NotFound(
                f"there is no stack {stack} here: `relay local up` starts one on this machine, "
                "`cdk deploy` makes one in an account; name another with --stack"
            ) from error
        if found["StackStatus"] == "CREATE_IN_PROGRESS":
            raise TryAgain(f"stack {stack} is still being created")
        values = {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}
        try:
            return cls.model_validate_strings(values)
        except ValidationError as error:
            missing = ", ".join(str(item["loc"][0]) for item in error.errors())
            raise NotFound(
                f"stack {stack} is not a Relay control plane: its outputs lack {missing}"
            ) from error
