"""What a job asks for, and what a cluster's pods are made of: profiles, set by the deployment."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, RootModel, StringConstraints, model_validator

from contracts.limits import WORKER_GROUPS_MAX
from contracts.misfit import Misfit
from contracts.model import Contract

HEAD = "head"
"""The profile of every job's head: a node without accelerators."""

ProfileName = Annotated[str, StringConstraints(pattern=r"^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$")]
ResourceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$")]


class Toleration(Contract):
    """A taint that a profile's pods may be put beside."""

    key: str = Field(min_length=1)
    operator: Literal["Exists", "Equal"] = "Exists"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class HardwareProfile(Contract):
    """What one pod of a profile is given, and which nodes it may run on.

    It must fit into what a node can allocate, which is less than the instance's nominal size:
    a larger pod waits for ever.
    """

    cpu: int = Field(ge=1, le=4096, description="CPUs.")
    memory: str = Field(
        pattern=r"^[1-9][0-9]*(Mi|Gi)$", description="Memory, shared memory included; 16Gi."
    )
    gpu: int = Field(0, ge=0, le=64, description="NVIDIA GPUs.")
    labels: dict[str, str] = Field({}, description="Labels that the node must have.")
    tolerations: tuple[Toleration, ...] = ()


_DEFAULTS = {
    HEAD: HardwareProfile(cpu=2, memory="8Gi"),
    "cpu": HardwareProfile(cpu=4, memory="16Gi"),
}


class Profiles(RootModel[dict[ProfileName, HardwareProfile]]):
    """The profiles of a deployment by their names."""

    @property
    def head(self) -> HardwareProfile:
        """The head's profile."""
        return self.root.get(HEAD, _DEFAULTS[HEAD])

    @property
    def workers(self) -> dict[str, HardwareProfile]:
        """Every profile but the head's; a plain one of CPUs where none is set."""
        named = {name: it for name, it in self.root.items() if name != HEAD}
        return named or {"cpu": _DEFAULTS["cpu"]}


class WorkerGroup(Contract):
    """Pods of one hardware profile that a job's cluster is made of."""

    profile: ProfileName = Field(description="One of the deployment's hardware profiles.")
    count: int = Field(1, ge=1, le=1024, description="Pods.")
    resources: dict[ResourceName, Annotated[float, Field(gt=0, le=1_000_000)]] = Field(
        {}, description="Custom Ray resources that each pod offers, for tasks to ask for."
    )


class Hardware(Contract):
    """What a job asks Ray for, and on a cluster the pods that offer it."""

    cpus: float = Field(1, gt=0, le=4096, description="CPUs of the job's work, on one node.")
    gpus: float = Field(0, ge=0, le=4096, description="GPUs of the job's work, on one node.")
    learners: int = Field(
        1,
        ge=1,
        le=1024,
        description="Ray Train workers that share each optimiser step's batch; each takes cpus "
        "and gpus. ppo plays and learns in one process.",
    )
    workers: tuple[WorkerGroup, ...] = Field(
        (),
        max_length=WORKER_GROUPS_MAX,
        description="Empty: of the smallest profile that has the CPUs and GPUs, a pod a learner.",
    )

    @model_validator(mode="after")
    def _profiles_are_workers_each_once(self) -> Self:
        names = [group.profile for group in self.workers]
        if len(set(names)) != len(names):
            raise Misfit("workers", "workers: name each profile once; count says how many pods")
        if HEAD in names:
            raise Misfit("workers", f"workers: profile {HEAD} is the head's, which every job has")
        return self
