"""The stack beside the control plane's: how its functions reach a cluster, and its jobs AWS."""

from __future__ import annotations

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.components.cluster_entry import ClusterEntry
from cdk.components.job_identity import JobIdentity
from cdk.components.node_event_rule import NodeEventRule
from cdk.components.private_endpoints import HTTPS, PrivateEndpoints
from cdk.names import node_rule_name
from cdk.namespace_access import group_of
from cdk.rights import job_rights
from cdk.settings import Settings
from cdk.stack import ControlPlane


def cluster_stack_name(settings: Settings) -> str:
    """Name of the stack."""
    return f"{settings.name}Cluster"


class ClusterAccess(Stack):
    """Entries, identities and network ways of one cluster that exists; nothing of it is made."""

    def __init__(self, scope: Construct, settings: Settings, control: ControlPlane) -> None:
        """Compose the stack.

        Args:
            scope: the app.
            settings: which cluster, and how it is reached.
            control: the control plane's stack, which is deployed first.
        """
        super().__init__(
            scope,
            cluster_stack_name(settings),
            description="Relay: access to the cluster that jobs run on",
            termination_protection=settings.protects,
        )
        self.add_stack_dependency(control, reason="its outputs are read")
        self.settings = settings
        self._let_functions_in(control)
        self.job = JobIdentity(
            self,
            "Job",
            cluster=settings.cluster_name,
            namespace=settings.namespace,
            service_account=settings.service_account,
            rights=job_rights(self._bucket(control)),
        )
        if settings.cluster_security_group_id:
            self._open_cluster()
        if settings.endpoints:
            PrivateEndpoints(self, "Endpoints", settings=settings)
        if settings.hyperpod_cluster:
            NodeEventRule(
                self,
                "Nodes",
                name=node_rule_name(settings.name),
                cluster=settings.hyperpod_cluster,
                reports=control.told("ReportsQueueArn"),
                dead_letters=control.told("ReportsDeadLetterQueueArn"),
            )
        self._tell()

    def _bucket(self, control: ControlPlane) -> s3.IBucket:
        return s3.Bucket.from_bucket_name(self, "Store", control.told("Bucket"))

    def _let_functions_in(self, control: ControlPlane) -> None:
        for name in control.runner_functions():
            ClusterEntry(
                self,
                name,
                cluster=self.settings.cluster_name,
                role_arn=control.told(f"{name}RoleArn"),
                group=group_of(self.settings),
            )

    def _open_cluster(self) -> None:
        ec2.CfnSecurityGroupIngress(
            self,
            "ClusterFromFunctions",
            group_id=self.settings.cluster_security_group_id,
            source_security_group_id=self.settings.security_group_id,
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            description="Relay: functions reach the cluster's API",
        )

    def _tell(self) -> None:
        told = {
            "JobRoleArn": self.job.role.role_arn,
            "ClusterName": self.settings.cluster_name,
            "Namespace": self.settings.namespace,
            "KubernetesGroup": group_of(self.settings),
        }
        for name, value in told.items():
            CfnOutput(self, name, value=value)
