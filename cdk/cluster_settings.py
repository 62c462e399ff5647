"""Settings of runner `kuberay`: which cluster, what a job is made of, how functions reach it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from contracts.hardware import Profiles
from contracts.model import Contract, canonical_json

PROFILES_BYTES_MAX = 2048
"""A function's variables have 4 KB in all."""

_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_SUBDOMAIN_OR_NONE = rf"^(?:{_SUBDOMAIN})?$"
_IMAGE = (
    r"^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$"
)


def listed(value: object) -> object:
    """A list from the command line is separated by commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _from_json(value: object) -> object:
    """A mapping from the command line is JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from error


def _short(profiles: Profiles) -> Profiles:
    size = len(profiles_text(profiles).encode())
    if size > PROFILES_BYTES_MAX:
        raise ValueError(f"{size} bytes of JSON, at most {PROFILES_BYTES_MAX} are told")
    return profiles


def profiles_text(profiles: Profiles) -> str:
    """Profiles as functions are told them; nothing that is so by default."""
    return canonical_json(profiles.model_dump(mode="json", exclude_defaults=True)).decode()


def _image(name: str) -> str:
    last = name.rpartition("/")[2]
    if name and ":" not in last and "@" not in last:
        raise ValueError(f"{name!r} has neither a tag nor a digest, so it would change by itself")
    return name


_Subnet = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")]
_RouteTable = Annotated[str, Field(pattern=r"^rtb-[0-9a-f]{8,17}$")]


class ClusterSettings(Contract):
    """What may differ between clusters; nothing of it matters to runner `queue`."""

    runner: Literal["queue", "kuberay"] = Field(
        "queue",
        description="Who runs jobs: queue is an agent beside a Ray, kuberay a HyperPod cluster "
        "on EKS with the KubeRay operator.",
    )
    cluster_name: str = Field(
        "",
        pattern=r"^(?:[0-9A-Za-z][0-9A-Za-z_-]{0,99})?$",
        description="Name of the EKS cluster; kuberay needs it.",
    )
    namespace: str = Field(
        "relay", pattern=rf"^{_LABEL}$", description="Kubernetes namespace of the jobs."
    )
    image: Annotated[str, AfterValidator(_image)] = Field(
        "",
        pattern=rf"^$|{_IMAGE}",
        max_length=512,
        description="The jobs' image, with a tag or a digest; kuberay needs it.",
    )
    service_account: str = Field(
        "relay-job",
        pattern=rf"^{_SUBDOMAIN}$",
        description="The jobs' service account, which pod identity gives the job's role.",
    )
    kueue_queue: str = Field(
        "",
        pattern=_SUBDOMAIN_OR_NONE,
        description="Kueue's local queue of the namespace; jobs wait for no quota when empty.",
    )
    priority_class: str = Field(
        "", pattern=_SUBDOMAIN_OR_NONE, description="Kueue's workload priority class; may be empty."
    )
    fsx_claim: str = Field(
        "",
        pattern=_SUBDOMAIN_OR_NONE,
        description="The namespace's claim of the FSx file system that jobs share, mounted at "
        "workspace_root; it exists, and kuberay needs it.",
    )
    ray_cluster: str = Field(
        "",
        pattern=r"^(?:[a-z](?:[-a-z0-9]{0,51}[a-z0-9])?)?$",
        description="A long-lived RayCluster that all jobs run on; each has its own when empty.",
    )
    ray_version: str = Field(
        "2.60.0", pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$", description="Ray's version in the image."
    )
    hardware_profiles: Annotated[Profiles, BeforeValidator(_from_json), AfterValidator(_short)] = (
        Field(
            Profiles({}),
            description="JSON: by a profile's name, what a pod of it is given and where it runs.",
        )
    )
    hyperpod_cluster: str = Field(
        "",
        pattern=r"^(?:[0-9A-Za-z](?:-*[0-9A-Za-z]){0,62})?$",
        description="Name of the HyperPod cluster, whose node events stretch the patience of runs; "
        "they are not heard when empty.",
    )
    vpc_id: str = Field(
        "",
        pattern=r"^(?:vpc-[0-9a-f]{8,17})?$",
        description="VPC of a cluster whose endpoint is private; functions that talk to it are "
        "attached when subnet_ids and security_group_id are given, too.",
    )
    subnet_ids: Annotated[tuple[_Subnet, ...], BeforeValidator(listed)] = Field(
        (), description="Subnets of the attached functions, separated by commas."
    )
    security_group_id: str = Field(
        "",
        pattern=r"^(?:sg-[0-9a-f]{8,17})?$",
        description="Security group of the attached functions.",
    )
    cluster_security_group_id: str = Field(
        "",
        pattern=r"^(?:sg-[0-9a-f]{8,17})?$",
        description="Security group of the cluster's API and machines; when given, it lets the "
        "functions in on 443, and the endpoints let it in.",
    )
    endpoints: bool = Field(
        False,
        description="Whether to make VPC endpoints of the services that functions and jobs call, "
        "for subnets without a way out.",
    )
    route_table_ids: Annotated[tuple[_RouteTable, ...], BeforeValidator(listed)] = Field(
        (), description="Route tables of the subnets, which the endpoints of S3 and DynamoDB need."
    )

    @property
    def on_a_cluster(self) -> bool:
        """Whether jobs run on a cluster."""
        return self.runner == "kuberay"

    @property
    def attached(self) -> bool:
        """Whether functions that talk to the cluster are attached to a VPC."""
        return bool(self.vpc_id)

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        if not self.on_a_cluster:
            given = sorted(self.model_fields_set & set(ClusterSettings.model_fields) - {"runner"})
            if given:
                raise ValueError(f"{given[0]} is a setting of runner kuberay, and runner is queue")
            return self
        for problem in (self._lacking(), self._unscheduled(), self._unreachable()):
            if problem:
                raise ValueError(problem)
        return self

    def _lacking(self) -> str:
        needed: Mapping[str, str] = {
            "cluster_name": "the name of the EKS cluster",
            "image": "the jobs' image",
            "fsx_claim": "the claim of the file system that jobs share",
        }
        lacking = [f"{name}: {what}" for name, what in needed.items() if not getattr(self, name)]
        return f"runner kuberay needs {'; '.join(lacking)}" if lacking else ""

    def _unscheduled(self) -> str:
        if self.priority_class and not self.kueue_queue:
            return "priority_class is read by Kueue: give kueue_queue, too"
        if self.ray_cluster and self.kueue_queue:
            return "kueue_queue has no effect on ray_cluster: Kueue skips jobs on a living cluster"
        return ""

    def _unreachable(self) -> str:
        together = {
            name: bool(getattr(self, name))
            for name in ("vpc_id", "subnet_ids", "security_group_id")
        }
        if any(together.values()) and not all(together.values()):
            lacking = [name for name, given in together.items() if not given]
            return f"a VPC needs all of {', '.join(together)}: {', '.join(lacking)} not given"
        if self.endpoints and not (self.route_table_ids and self.cluster_security_group_id):
            return (
                "endpoints need vpc_id, route_table_ids and cluster_security_group_id, whose "
                "machines would otherwise be cut off from the services: names lead to the endpoints"
            )
        if self.cluster_security_group_id and not self.vpc_id:
            return "cluster_security_group_id lets attached functions in: vpc_id is not given"
        return ""
