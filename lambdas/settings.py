"""The functions' environment, read once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from contracts.hardware import Profiles
from contracts.model import Contract

_NEEDED = {
    "queue": ("job_queue_url",),
    "kuberay": ("aws_region", "cluster_name", "job_image", "fsx_claim", "ray_version"),
}


def _profiles(value: object) -> object:
    return Profiles.model_validate_json(value or "{}") if isinstance(value, str) else value


class Settings(Contract):
    """What the stack tells every function."""

    bucket: str
    ledger_table: str
    state_machine_arn: str
    workspace_root: str = Field(pattern=r"^/")
    progress_interval_s: float = Field(gt=0)
    runner: Literal["queue", "kuberay"]
    job_queue_url: str = Field("", description="Where runner queue rings.")
    aws_region: str = Field("", description="The functions' own region, told by Lambda.")
    cluster_name: str = Field("", description="The EKS cluster.")
    cluster_namespace: str = Field("default", description="The jobs' namespace.")
    job_image: str = ""
    job_service_account: str = Field("default", description="Which carries the jobs' role.")
    job_queue_name: str = Field("", description="Kueue's local queue; none when empty.")
    job_priority_class: str = Field("", description="Kueue's priority class; none when empty.")
    fsx_claim: str = Field("", description="Claim of the file system, mounted at workspace_root.")
    ray_cluster: str = Field("", description="A living RayCluster; one per job when empty.")
    ray_version: str = Field("", description="Ray's version in the image.")
    hardware_profiles: Annotated[Profiles, BeforeValidator(_profiles)] = Profiles({})

    @model_validator(mode="after")
    def _the_runner_has_what_it_needs(self) -> Self:
        lacking = [name.upper() for name in _NEEDED[self.runner] if not getattr(self, name)]
        if lacking:
            raise ValueError(f"runner {self.runner} needs {', '.join(lacking)}")
        return self

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        """Read the variables named like the fields, in capitals."""
        return cls.model_validate_strings(
            {name: environ[name.upper()] for name in cls.model_fields if name.upper() in environ}
        )
