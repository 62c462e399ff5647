"""What a cluster's workers are made of: named profiles, a setting of the deployment."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, RootModel, StringConstraints

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
