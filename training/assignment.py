"""What one process has to do: the job's spec, the run's plan, and where things lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.errors import ContractBroken
from contracts.job import JobSpec
from contracts.plan import Plan
from training.objects import Objects
from training.sagemaker import SageMaker


@dataclass(frozen=True)
class Assignment:
    """One attempt's orders; travels to the Ray task by pickling.

    Attributes:
        spec: the job's.
        plan: of its run.
        checkpoints: folder of this machine's choice for checkpoints; None: in the workspace.
    """

    spec: JobSpec
    plan: Plan
    checkpoints: Path | None = None

    @property
    def workspace(self) -> Path:
        """The run's folder on the shared file system."""
        return Path(self.spec.workspace)

    @property
    def folder(self) -> Path:
        """This attempt's own folder in the workspace."""
        return self.workspace / self.spec.key.folder

    @property
    def series(self) -> Path:
        """Folder of the checkpoints that all attempts of this phase share."""
        root = self.checkpoints / self.spec.run if self.checkpoints else self.workspace
        return root / f"{self.spec.round}-{self.spec.phase}-checkpoints"

    @property
    def stop_mark(self) -> Path:
        """A file whose presence asks the work to save and end."""
        return self.folder / layout.STOP_REQUESTED

    @property
    def together(self) -> bool:
        """Whether several learners share the phase's work."""
        return self.spec.phase == "optimize" and self.spec.hardware.learners > 1

    @property
    def threads(self) -> int:
        """Threads that the job was promised, at least one."""
        return max(1, int(self.spec.hardware.cpus))

    @property
    def seed(self) -> int:
        """Seed of this round: the pipeline's, moved on by the rounds before."""
        return (self.plan.pipeline.seed + 1_000_003 * (self.spec.round - 1)) % 2**31

    def input(self, *names: str) -> ArtifactRef:
        """The first input that was handed on under one of these names.

        Raises:
            ContractBroken: none was.
        """
        for name in names:
            if name in self.spec.inputs:
                return self.spec.inputs[name]
        given = ", ".join(sorted(self.spec.inputs)) or "nothing"
        raise ContractBroken(
            f"{self.spec.key.job_name} needs the input {' or '.join(names)}, but got {given}"
        )


def read_spec(objects: Objects, key: str) -> JobSpec:
    """Read `job.json`.

    Raises:
        ContractBroken: it is not a job's spec, or lies under the key of another job.
        RelayError: it cannot be read.
    """
    spec = JobSpec.from_bytes(objects.get(key), where=key)
    if layout.job(spec.key) != key or spec.bucket != objects.bucket:
        raise ContractBroken(f"{key} holds the spec of {layout.job(spec.key)} in {spec.bucket}")
    return spec


def read_assignment(objects: Objects, spec: JobSpec) -> Assignment:
    """Read the plan that a job's spec belongs to.

    Raises:
        ContractBroken: it is not a plan, or that of another run.
        RelayError: it cannot be read.
    """
    key = layout.plan(spec.run)
    plan = Plan.from_bytes(objects.get(key), where=key)
    if plan.run != spec.run or plan.name != spec.pipeline:
        raise ContractBroken(f"{key} is the plan of run {plan.run} of {plan.name}")
    if spec.round > len(plan.pipeline.rounds):
        raise ContractBroken(
            f"{spec.key.job_name} is of round {spec.round}, "
            f"but the plan has {len(plan.pipeline.rounds)}"
        )
    return Assignment(spec, plan, SageMaker().checkpoints)
