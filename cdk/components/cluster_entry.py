"""Who a function is to the cluster: a member of one group, and nothing by itself."""

from __future__ import annotations

from aws_cdk import aws_eks as eks
from constructs import Construct


class ClusterEntry(Construct):
    """An access entry of an EKS cluster, for a role that comes from outside of it."""

    def __init__(
        self, scope: Construct, id_: str, *, cluster: str, role_arn: str, group: str
    ) -> None:
        """Make the entry.

        Only the type STANDARD takes groups. A policy is not associated: see `namespace_access`.

        Args:
            scope: the stack.
            id_: whose entry.
            cluster: the cluster's name.
            role_arn: who calls.
            group: Kubernetes group that a role of the namespace is bound to.
        """
        super().__init__(scope, id_)
        self.entry = eks.CfnAccessEntry(
            self,
            "Entry",
            cluster_name=cluster,
            principal_arn=role_arn,
            type="STANDARD",
            kubernetes_groups=[group],
        )
