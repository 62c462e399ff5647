"""Whether a job can ever start on a Ray that stays as large as it is. Pure."""

from __future__ import annotations

from contracts.job import JobSpec
from relay.agent.ports import Room

_UNIT = 1e-4
"""Ray counts resources in ten-thousandths."""


def misfit(spec: JobSpec, room: Room) -> str | None:
    """Why the job cannot start however long it waits; None when it can.

    Returns:
        The field of the pipeline, what it asks for, what there is, and the remedy.
    """
    hardware = spec.hardware
    learners = hardware.learners if spec.phase == "optimize" else 1
    for field, asked, there in (
        ("cpus", hardware.cpus, room.cpus),
        ("gpus", hardware.gpus, room.gpus),
    ):
        if learners * asked > there + _UNIT:
            return _words(field, asked, learners, there)
    return None


def _words(field: str, asked: float, learners: int, there: float) -> str:
    what, fields = f"{asked:g}", f"hardware.{field}"
    if learners > 1:
        what = f"{asked:g} for each of {learners} learners, {asked * learners:g} in all"
        fields += " or hardware.learners"
    return (
        f"hardware.{field} asks for {what}, but this Ray has {there:g} and does not grow: "
        f"lower {fields} in the pipeline, or drop it where there are more"
    )
