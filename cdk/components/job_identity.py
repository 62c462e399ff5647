"""What a job is to AWS: the role that its service account's pods are given."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.names import cluster_arn


class JobIdentity(Construct):
    """A role, and the association by which EKS gives it to pods of one service account."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: str,
        namespace: str,
        service_account: str,
        rights: Sequence[iam.PolicyStatement],
    ) -> None:
        """Make both.

        Args:
            scope: the stack.
            id_: who acts as it.
            cluster: the EKS cluster's name; it needs the add-on eks-pod-identity-agent.
            namespace: of the service account.
            service_account: of the pods.
            rights: what they may do.
        """
        super().__init__(scope, id_)
        stack = Stack.of(self)
        self.role = iam.Role(
            self,
            "Role",
            description="Relay: training jobs",
            assumed_by=iam.ServicePrincipal(
                "pods.eks.amazonaws.com",
                # The tags that pod identity puts on each session.
                conditions={
                    "StringEquals": {
                        "aws:RequestTag/eks-cluster-arn": cluster_arn(stack, cluster),
                        "aws:RequestTag/kubernetes-namespace": namespace,
                        "aws:RequestTag/kubernetes-service-account": service_account,
                    }
                },
            ).with_session_tags(),
            max_session_duration=Duration.hours(12),
            inline_policies={"rights": iam.PolicyDocument(statements=list(rights))},
        )
        self.association = eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=cluster,
            namespace=namespace,
            service_account=service_account,
            role_arn=self.role.role_arn,
        )
