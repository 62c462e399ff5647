"""Runner `kuberay`: functions find a cluster; all else about it is in a stack of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk.cluster_settings import profiles_text
from cdk.components.access_role import AccessRole
from cdk.components.control_function import ControlFunction
from cdk.components.work_queue import WorkQueue, let_send
from cdk.names import cluster_arn, functions_arn_pattern, node_rule_arn
from cdk.settings import Settings
from cdk.statements import joins_network, sees_cluster


class ClusterJobs:
    """A job is an object of the cluster's API, and the jobs' role is the cluster's affair."""

    def __init__(self, stack: Stack, settings: Settings, reports: WorkQueue) -> None:
        """Let the cluster's events in.

        Args:
            stack: the control plane's.
            settings: which cluster.
            reports: hears of the cluster's machines.
        """
        self._stack = stack
        self._settings = settings
        self._reports = reports
        self._functions: Mapping[str, ControlFunction] = {}
        self.queue: WorkQueue | None = None
        self.roles: Mapping[str, AccessRole] = {}
        if settings.hyperpod_cluster:
            rule = node_rule_arn(stack)
            for queue in (reports.queue, reports.dead_letters):
                let_send(queue, "SendNodes", "events.amazonaws.com", rule, stack.account)

    def variables(self) -> dict[str, str]:
        """Which cluster, and what jobs are made of."""
        settings = self._settings
        return {
            "CLUSTER_NAME": settings.cluster_name,
            "CLUSTER_NAMESPACE": settings.namespace,
            "JOB_IMAGE": settings.image,
            "JOB_SERVICE_ACCOUNT": settings.service_account,
            "JOB_QUEUE_NAME": settings.kueue_queue,
            "JOB_PRIORITY_CLASS": settings.priority_class,
            "FSX_CLAIM": settings.fsx_claim,
            "RAY_CLUSTER": settings.ray_cluster,
            "RAY_VERSION": settings.ray_version,
            "HARDWARE_PROFILES": profiles_text(settings.hardware_profiles),
        }

    def starting(self) -> Sequence[iam.PolicyStatement]:
        """Find the cluster; what may be done in it, the cluster says."""
        settings, stack = self._settings, self._stack
        network = joins_network(functions_arn_pattern(stack)) if settings.attached else []
        return [sees_cluster(cluster_arn(stack, settings.cluster_name)), *network]

    def stopping(self) -> Sequence[iam.PolicyStatement]:
        """The same."""
        return self.starting()

    def serve(self, functions: Mapping[str, ControlFunction]) -> None:
        """Attach the functions to the cluster's VPC where its API is private."""
        self._functions = functions
        if self._settings.attached:
            for each in functions.values():
                each.join(self._settings.subnet_ids, self._settings.security_group_id)

    def let_in(self, bucket: s3.Bucket) -> None:
        """Nothing: the jobs' role is made where their identity is."""

    def outputs(self) -> dict[str, str]:
        """What the other stack reads."""
        roles = {f"{name}RoleArn": one.role.role_arn for name, one in self._functions.items()}
        return {
            **roles,
            "ReportsQueueArn": self._reports.queue.queue_arn,
            "ReportsDeadLetterQueueArn": self._reports.dead_letters.queue_arn,
        }
