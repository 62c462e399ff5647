"""A role that something outside the stack acts as: a job, or the agent that starts jobs."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.statements import allow


def trusted(arns: Sequence[str], also: iam.IRole | None = None) -> iam.PrincipalBase:
    """Those principals; the whole account, by its own policies, if none is named.

    On EKS the trust becomes pod identity's.

    Args:
        arns: of roles and users.
        also: another role of the stack, where the account as a whole is not trusted.
    """
    if not arns:
        return iam.AccountRootPrincipal()
    extra = [] if also is None else [also.role_arn]
    return iam.CompositePrincipal(*(iam.ArnPrincipal(arn) for arn in (*arns, *extra)))


class AccessRole(Construct):
    """The role, with its rights in line so that they exist whenever it does."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        description: str,
        assumed_by: iam.PrincipalBase,
        rights: Sequence[iam.PolicyStatement],
    ) -> None:
        """Make the role.

        Args:
            scope: the stack.
            id_: who acts as it.
            description: for the console.
            assumed_by: who may act as it.
            rights: what it may do.
        """
        super().__init__(scope, id_)
        self.role = iam.Role(
            self,
            "Role",
            description=description,
            assumed_by=assumed_by,
            # A session of a session ends after an hour anyhow; this is for those who come straight.
            max_session_duration=Duration.hours(12),
            inline_policies={"rights": iam.PolicyDocument(statements=list(rights))},
        )

    def may_act_as(self, other: AccessRole) -> None:
        """Let this role assume another, which may name this one in its own trust."""
        iam.Policy(
            self,
            "ActAs",
            statements=[allow("ActAs", ["sts:AssumeRole"], [other.role.role_arn])],
            roles=[self.role],
        )
