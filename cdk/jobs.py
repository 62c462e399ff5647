"""What differs in the control plane's stack by who runs jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk.components.access_role import AccessRole
from cdk.components.control_function import ControlFunction
from cdk.components.work_queue import WorkQueue


class Jobs(Protocol):
    """One runner's part of the stack."""

    queue: WorkQueue | None
    """Where jobs are rung for."""
    roles: Mapping[str, AccessRole]
    """Roles that whoever runs jobs acts as, by the part of it."""

    def variables(self) -> dict[str, str]:
        """What functions are told of the runner, in the words of their settings."""

    def starting(self) -> Sequence[iam.PolicyStatement]:
        """What functions that start jobs may do for it, besides putting objects."""

    def stopping(self) -> Sequence[iam.PolicyStatement]:
        """What functions that stop jobs may do for it, besides putting objects."""

    def serve(self, functions: Mapping[str, ControlFunction]) -> None:
        """See that functions which talk to the runner reach it."""

    def let_in(self, bucket: s3.Bucket) -> None:
        """Make the roles of whoever runs jobs."""

    def outputs(self) -> dict[str, str]:
        """What is told of it."""
