"""Which worker groups a job gets: those its pipeline names, or one that is large enough."""

from __future__ import annotations

from contracts.counting import agreeing
from contracts.errors import PipelineInvalid
from contracts.hardware import Hardware, HardwareProfile, WorkerGroup
from lambdas.settings import Settings


def worker_groups(
    hardware: Hardware, settings: Settings, *, pods: int = 1
) -> list[tuple[WorkerGroup, HardwareProfile]]:
    """Each group with the profile of its pods.

    Args:
        hardware: the pipeline's.
        settings: the deployment's profiles.
        pods: how many there are where the pipeline names no groups.

    Raises:
        PipelineInvalid: a profile is not known, or no pod has the job's CPUs and GPUs.
    """
    known = settings.hardware_profiles.workers
    for group in hardware.workers:
        if group.profile not in known:
            raise PipelineInvalid(
                f"hardware.workers names profile {group.profile}; this deployment has "
                f"{', '.join(sorted(known))}"
            )
    groups = hardware.workers or _smallest(hardware, known, pods)
    found = [(group, known[group.profile]) for group in groups]
    if not any(_has_room(profile, hardware) for _, profile in found):
        raise PipelineInvalid(
            f"hardware asks for {hardware.cpus:g} {agreeing(hardware.cpus, 'CPU')} and "
            f"{hardware.gpus:g} {agreeing(hardware.gpus, 'GPU')} on one node; "
            f"the profiles offer {_offers(known if not found else dict(_named(found)))}"
        )
    return found


def _smallest(
    hardware: Hardware, known: dict[str, HardwareProfile], pods: int
) -> tuple[WorkerGroup, ...]:
    fitting = [name for name, it in known.items() if _has_room(it, hardware)]
    chosen = min(fitting, key=lambda name: (known[name].gpu, known[name].cpu, name), default=None)
    return () if chosen is None else (WorkerGroup(profile=chosen, count=pods),)


def _named(
    found: list[tuple[WorkerGroup, HardwareProfile]],
) -> list[tuple[str, HardwareProfile]]:
    return [(group.profile, profile) for group, profile in found]


def _has_room(profile: HardwareProfile, hardware: Hardware) -> bool:
    return profile.cpu >= hardware.cpus and profile.gpu >= hardware.gpus


def _offers(profiles: dict[str, HardwareProfile]) -> str:
    parts = (f"{name} {it.cpu} and {it.gpu}" for name, it in sorted(profiles.items()))
    return ", ".join(parts)
