"""Ways out of subnets that have none: endpoints of the services that functions and jobs call."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk.cluster_settings import ClusterSettings

INTERFACES = ("eks", "eks-auth", "logs", "sqs", "states", "sts")
"""eks-auth is what gives pods the jobs' role: each node's pod identity agent calls it."""
GATEWAYS = ("dynamodb", "s3")
HTTPS = 443


class PrivateEndpoints(Construct):
    """Interface endpoints in the functions' subnets, gateways in their route tables.

    They have no policies of their own: a VPC has one endpoint a service, so the cluster's nodes go
    through the same (images come from S3), and roles say already who may do what.
    """

    def __init__(self, scope: Construct, id_: str, *, settings: ClusterSettings) -> None:
        """Make the endpoints, and a security group that lets functions and machines reach them.

        Machines, too, because in the whole VPC the services' names lead to the endpoints.

        Args:
            scope: the stack.
            id_: its role.
            settings: VPC, subnets, route tables, and both security groups.
        """
        super().__init__(scope, id_)
        self._settings = settings
        self.group = ec2.CfnSecurityGroup(
            self,
            "Group",
            group_description="Relay: reached over TLS by functions and by the cluster",
            vpc_id=settings.vpc_id,
            security_group_ingress=[
                _let_in(settings.security_group_id, "functions"),
                _let_in(settings.cluster_security_group_id, "the cluster"),
            ],
        )
        for service in INTERFACES:
            self._interface(service)
        for service in GATEWAYS:
            self._gateway(service)

    def _interface(self, service: str) -> None:
        ec2.CfnVPCEndpoint(
            self,
            "".join(part.capitalize() for part in service.split("-")),
            vpc_endpoint_type="Interface",
            vpc_id=self._settings.vpc_id,
            service_name=self._name(service),
            subnet_ids=list(self._settings.subnet_ids),
            security_group_ids=[self.group.attr_group_id],
            private_dns_enabled=True,
        )

    def _gateway(self, service: str) -> None:
        ec2.CfnVPCEndpoint(
            self,
            service.capitalize(),
            vpc_endpoint_type="Gateway",
            vpc_id=self._settings.vpc_id,
            service_name=self._name(service),
            route_table_ids=list(self._settings.route_table_ids),
        )

    def _name(self, service: str) -> str:
        return f"com.amazonaws.{Stack.of(self).region}.{service}"


def _let_in(group: str, who: str) -> ec2.CfnSecurityGroup.IngressProperty:
    return ec2.CfnSecurityGroup.IngressProperty(
        ip_protocol="tcp",
        from_port=HTTPS,
        to_port=HTTPS,
        source_security_group_id=group,
        description=who,
    )
