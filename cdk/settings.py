"""The app's settings: read from context, checked before anything is synthesised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from cdk.cluster_settings import ClusterSettings, listed, profiles_text
from contracts.errors import ContractBroken
from contracts.hardware import Profiles
from contracts.limits import PROGRESS_INTERVAL_MAX_S
from contracts.model import describe

LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653)
"""What CloudWatch Logs takes and CDK has a name for."""

TOLD_BYTES_MAX = 3_000
"""A function's variables have 4 KB with their names; what the stack itself puts there is less than
a quarter of it."""
_TOLD = (
    "workspace_root",
    "cluster_name",
    "namespace",
    "image",
    "service_account",
    "kueue_queue",
    "priority_class",
    "fsx_claim",
    "ray_cluster",
    "ray_version",
    "hardware_profiles",
)
_GROUPS_OF_EKS = frozenset({"amazon", "aws", "eks", "iam", "system"})
"""The functions' group in the cluster is named after the stack."""

_PRINCIPAL = r"^arn:[a-z-]+:(iam|sts)::[0-9]{12}:[A-Za-z0-9+=,.@_/-]+$"


def _log_retention(days: int) -> int:
    if days not in LOG_RETENTION_DAYS:
        raise ValueError(f"{days} is not one of {', '.join(map(str, LOG_RETENTION_DAYS))}")
    return days


class Settings(ClusterSettings):
    """What may differ between deployments; `cdk deploy -c name=value` sets one."""

    name: str = Field(
        "Relay",
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,23}$",
        description="The stack's name; short, as CloudFormation makes the bucket's name of it.",
    )
    stage: str = Field("prod", pattern=r"^[a-z][a-z0-9-]{0,15}$", description="Tag `stage`.")
    owner: str = Field("", max_length=128, description="Tag `owner`; none when empty.")
    cost_center: str = Field("", max_length=128, description="Tag `cost-center`; none when empty.")
    removal: Literal["retain", "destroy"] = Field(
        "retain",
        description="What becomes of bucket, ledger and logs when the stack is deleted. destroy is "
        "for stacks that are thrown away; the bucket must be empty by then.",
    )
    deletion_protection: bool | None = Field(
        None,
        description="Whether stack and ledger refuse to be deleted; by default when retained.",
    )
    log_retention_days: Annotated[int, AfterValidator(_log_retention)] = Field(
        90, description="How long logs are kept."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="What the functions log."
    )
    architecture: Literal["arm64", "x86_64"] = Field(
        "arm64", description="Processor of the functions; the Powertools layer follows."
    )
    powertools_version: int = Field(
        27, ge=1, description="Version of AWS's public Powertools layer for Python 3.13."
    )
    powertools_layer: str | None = Field(
        None,
        pattern=r"^arn:[a-z-]+:lambda:[a-z0-9-]+:[0-9]{12}:layer:[A-Za-z0-9_-]+:[0-9]+$",
        description="ARN of another layer with Powertools and pydantic, for example a copy of "
        "one's own; replaces the public one.",
    )
    gather_s: int = Field(
        5, ge=1, le=3600, description="How long a run waits for the rest of a burst, in seconds."
    )
    workspace_root: str = Field(
        "/fsx/relay",
        pattern=r"^(/[^/\x00-\x1f\x7f-\x9f]+)+$",
        description="Folder on the file system that all jobs share; absolute, no slash at the end.",
    )
    progress_interval_s: float = Field(
        15,
        gt=0,
        le=PROGRESS_INTERVAL_MAX_S,
        description="Least time between a job's progress objects, in seconds.",
    )
    max_concurrency: int = Field(
        10, ge=2, le=1000, description="Most copies of a function that one queue is read by."
    )
    trusted_principals: Annotated[
        tuple[Annotated[str, Field(pattern=_PRINCIPAL)], ...], BeforeValidator(listed)
    ] = Field(
        (),
        description="ARNs of those who may act as agent or job, separated by commas; by default "
        "whoever the account's own policies allow.",
    )
    alarm_email: str = Field(
        "",
        pattern=r"^(?:[^@\s,]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)?$",
        max_length=254,
        description="Who is told of alarms, once they confirmed the first letter; nobody if empty.",
    )
    runbooks: str = Field(
        "docs/operate",
        pattern=r"^[A-Za-z0-9._~:/-]*[A-Za-z0-9._~-]$",
        max_length=400,
        description="Where the alarms' runbooks lie: a folder of the repository, or an address.",
    )

    @model_validator(mode="after")
    def _thrown_away_means_unprotected(self) -> Self:
        if self.removal == "destroy" and self.deletion_protection:
            raise ValueError("deletion_protection cannot be true when removal is destroy")
        return self

    @model_validator(mode="after")
    def _aws_takes_what_is_made_of_them(self) -> Self:
        told = {name: len(self._as_told(name).encode()) for name in _TOLD}
        if sum(told.values()) > TOLD_BYTES_MAX:
            longest = sorted(told, key=told.__getitem__, reverse=True)[:3]
            raise ValueError(
                f"functions are told {sum(told.values())} bytes of settings, Lambda has room for "
                f"{TOLD_BYTES_MAX}: shorten {', '.join(longest)}"
            )
        if self.on_a_cluster and self.name.lower() in _GROUPS_OF_EKS:
            raise ValueError(
                f"name {self.name!r} cannot be that of a stack whose jobs run on a cluster: EKS "
                f"keeps groups that begin with {self.name.lower()}: for itself"
            )
        return self

    def _as_told(self, name: str) -> str:
        value = getattr(self, name)
        return profiles_text(value) if isinstance(value, Profiles) else str(value)

    @property
    def retains(self) -> bool:
        """Whether data outlives the stack."""
        return self.removal == "retain"

    @property
    def protects(self) -> bool:
        """Whether stack and ledger refuse to be deleted."""
        return self.retains if self.deletion_protection is None else self.deletion_protection

    @property
    def tags(self) -> dict[str, str]:
        """The tags of every resource."""
        found = {
            "project": "relay",
            "stage": self.stage,
            "owner": self.owner,
            "cost-center": self.cost_center,
        }
        return {key: value for key, value in found.items() if value}

    @classmethod
    def read(cls, context: Mapping[str, Any]) -> Settings:
        """Read the settings among a CDK app's context.

        Args:
            context: all of it; what the CDK keeps there for itself is left out.

        Raises:
            ContractBroken: a setting is unknown or wrong; the message names it.
        """
        try:
            return cls.model_validate(
                {key: value for key, value in context.items() if not _is_the_cdks(key)}
            )
        except ValidationError as error:
            raise ContractBroken(describe(error)) from error


def _is_the_cdks(key: str) -> bool:
    """Feature flags, what the CLI passes on, and cached look-ups."""
    return key.startswith("@") or ":" in key or key in {"aws-cdk", "acknowledged-issue-numbers"}
