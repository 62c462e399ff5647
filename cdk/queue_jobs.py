"""Runner `queue`: a queue that agents listen to, a role for them and one for their jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk.components.access_role import AccessRole, trusted
from cdk.components.control_function import ControlFunction
from cdk.components.work_queue import WorkQueue
from cdk.rights import agent_rights, job_rights
from cdk.settings import Settings
from cdk.statements import sends

JOB_VISIBILITY = Duration.seconds(60)
"""How long an agent may take from the doorbell to its claim."""


class QueueJobs:
    """Jobs are objects, and a message is only a doorbell."""

    def __init__(self, stack: Stack, settings: Settings) -> None:
        self._stack = stack
        self._settings = settings
        self.queue: WorkQueue | None = WorkQueue(stack, "Jobs", visibility=JOB_VISIBILITY)
        self._bell = self.queue.queue
        self.roles: Mapping[str, AccessRole] = {}

    def variables(self) -> dict[str, str]:
        """The queue's address."""
        return {"JOB_QUEUE_URL": self._bell.queue_url}

    def starting(self) -> Sequence[iam.PolicyStatement]:
        """Ring."""
        return [sends(self._bell, "RingForJobs")]

    def stopping(self) -> Sequence[iam.PolicyStatement]:
        """Nothing: whoever runs the job looks for an object."""
        return []

    def serve(self, functions: Mapping[str, ControlFunction]) -> None:
        """Nothing: a queue is reached from anywhere."""

    def let_in(self, bucket: s3.Bucket) -> None:
        """Make the agents' role, and that of the jobs, which agents may act as."""
        principals = self._settings.trusted_principals
        agent = AccessRole(
            self._stack,
            "Agent",
            description="Relay: agents, which start training jobs",
            assumed_by=trusted(principals),
            rights=agent_rights(bucket, self._bell),
        )
        job = AccessRole(
            self._stack,
            "Job",
            description="Relay: training jobs",
            assumed_by=trusted(principals, also=agent.role),
            rights=job_rights(bucket),
        )
        agent.may_act_as(job)
        self.roles = {"Job": job, "Agent": agent}

    def outputs(self) -> dict[str, str]:
        """Queue and roles."""
        roles = {f"{name}RoleArn": one.role.role_arn for name, one in self.roles.items()}
        return {"JobQueueUrl": self._bell.queue_url, **roles}
