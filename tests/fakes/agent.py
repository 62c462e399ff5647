"""Agent and jobs of the `queue` runner: they claim, report and end, or die at any point."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.names import AttemptKey
from contracts.plan import Plan
from contracts.progress import Progress
from contracts.result import Failure, ObjectReport, PhaseResult, Problem
from fakes.clock import FakeClock
from fakes.doorbells import FakeJobQueue
from fakes.exports import export, on_cluster
from fakes.objects import FakeObjects

_ALL = 1 << 30
BETTER = {
    "start_accuracy": 0.5,
    "end_accuracy": 0.9,
    "gain": 0.4,
    "gain_low": 0.3,
    "gain_high": 0.5,
    "pairs": 100.0,
}
NO_BETTER = {**BETTER, "end_accuracy": 0.5, "gain": 0.0, "gain_low": -0.1, "gain_high": 0.1}
Ending = Literal["succeeded", "no_data", "kept", "JobFailed", "JobCrashed"]


@dataclass
class Job:
    """A process on the cluster."""

    spec: JobSpec
    started_at: datetime
    sequence: int = 0

    @property
    def deadline(self) -> datetime:
        """When it ends itself."""
        if self.spec.timeout_s is None:
            return self.spec.deadline
        return min(self.spec.deadline, self.started_at + timedelta(seconds=self.spec.timeout_s))


@dataclass
class ModelAgent:
    """Speaks by the bucket and the job queue only; `jobs` are the processes that live."""

    objects: FakeObjects
    queue: FakeJobQueue
    clock: FakeClock
    alive: bool = True
    jobs: dict[AttemptKey, Job] = field(default_factory=dict)
    claimed: set[AttemptKey] = field(default_factory=set)
    started: list[AttemptKey] = field(default_factory=list)

    def answer_bell(self) -> None:
        """Take the oldest doorbell, and claim its job if it is to be started."""
        if not self.alive or not self.queue.jobs:
            return
        spec = JobSpec.from_bytes(self._read(self.queue.jobs.pop(0)), where="job.json")
        key = spec.key
        if self._there(layout.exit_(key)):
            return
        if self._there(layout.stop(key)) or self.clock.now() >= spec.deadline:
            self._exit(key, "refused")
            return
        mark = Claim(agent="model", at=self.clock.now())
        if not self.objects.put_if_absent(layout.claim(key), mark.to_bytes()):
            return
        self.claimed.add(key)
        if self._there(layout.stop(key)):
            self._end_unheard(spec, "JobStopped", "stopped")
            return
        self.started.append(key)
        self.jobs[key] = Job(spec, self.clock.now())

    def look(self, key: AttemptKey) -> None:
        """Kill a job that is told to stop, as the agent does every few seconds."""
        if self.alive and key in self.jobs and self._there(layout.stop(key)):
            Stop.from_bytes(self._read(layout.stop(key)), where="stop.json")
            spec = self.jobs.pop(key).spec
            self._end_unheard(spec, "JobStopped", "stopped")

    def report_progress(self, key: AttemptKey) -> None:
        job = self.jobs[key]
        job.sequence += 1
        told = Progress(
            run=key.run,
            round=key.round,
            phase=key.phase,
            attempt=key.attempt,
            nonce=job.spec.nonce,
            sequence=job.sequence,
            at=self.clock.now(),
            stage="Learning",
            step=job.sequence,
            metrics={"loss": 0.5},
        )
        self.objects.put(layout.progress(key), told.to_bytes())

    def finish(self, key: AttemptKey, ending: Ending) -> None:
        """The job writes its last word and ends; the agent marks that, if it lives."""
        job = self.jobs.pop(key)
        if ending == "no_data" and key.phase != "collect":
            ending = "succeeded"
        self._result(job.spec, ending)
        if self.alive:
            self._exit(key, "succeeded")

    def kill_job(self, key: AttemptKey, *, silent: bool = False) -> None:
        """The process dies without a word; a silent agent only marks the exit."""
        spec = self.jobs.pop(key).spec
        if self.alive and silent:
            self._exit(key, "lost")
        elif self.alive:
            self._end_unheard(spec, "JobCrashed", "lost")

    def meet_deadlines(self) -> None:
        """Every job ends itself at its deadline."""
        for key, job in list(self.jobs.items()):
            if self.clock.now() >= job.deadline:
                del self.jobs[key]
                self._end_unheard(job.spec, "DeadlineExceeded", "failed", marks=self.alive)

    def restart(self) -> None:
        """A new agent finds the jobs of the one before; what is gone it marks as lost."""
        self.alive = True
        for key in sorted(self.claimed):
            if key not in self.jobs and not self._there(layout.exit_(key)):
                spec = JobSpec.from_bytes(self._read(layout.job(key)), where="job.json")
                self._end_unheard(spec, "JobCrashed", "lost")

    def _end_unheard(self, spec: JobSpec, error: str, how: str, *, marks: bool = True) -> None:
        if not self._there(layout.result(spec.key)):
            self._result(spec, error)
        if marks:
            self._exit(spec.key, how)

    def _exit(self, key: AttemptKey, how: str) -> None:
        mark = Exit.model_validate({"how": how, "at": self.clock.now()})
        self.objects.put_if_absent(layout.exit_(key), mark.to_bytes())

    def _result(self, spec: JobSpec, ending: str) -> None:
        fine = ending in {"succeeded", "no_data", "kept"}
        now = self.clock.now()
        result = PhaseResult.model_validate(
            {
                "run": spec.run,
                "round": spec.round,
                "phase": spec.phase,
                "attempt": spec.attempt,
                "nonce": spec.nonce,
                "outcome": ("no_data" if ending == "no_data" else "succeeded")
                if fine
                else "failed",
                "failure": None if fine else Failure(error=ending, cause=f"it {ending}"),
                "artifacts": self._artifacts(spec) if ending in {"succeeded", "kept"} else {},
                "metrics": NO_BETTER if ending == "kept" else BETTER,
                "objects": self._objects(spec) if spec.phase == "collect" and fine else (),
                "started_at": now,
                "ended_at": now,
            }
        )
        self.objects.put_if_absent(layout.result(spec.key), result.to_bytes())

    def _artifacts(self, spec: JobSpec) -> dict[str, ArtifactRef]:
        place = f"{spec.workspace.strip('/')}/{spec.key.folder}"
        if spec.phase == "collect":
            made = {
                "episodes": on_cluster(f"{place}/episodes", kind="episodes"),
                "start": on_cluster(f"{place}/start"),
            }
            if spec.round == 1 and self._plan(spec).parent is None:
                prefix = layout.initial_policy(spec.pipeline, spec.run)
                made["initial"] = export(self.objects, prefix, spec.run, b"version zero")
            return made
        if spec.phase == "evaluate":
            return {}
        made = {"policy": on_cluster(f"{place}/policy")}
        if spec.last_round:
            prefix = layout.policy(spec.pipeline, spec.run)
            made["export"] = export(self.objects, prefix, spec.run, spec.run.encode())
        return made

    def _objects(self, spec: JobSpec) -> tuple[ObjectReport, ...]:
        problem = Problem(line=1, field="chosen", problem="is empty", remedy="write an answer")
        return tuple(
            ObjectReport(
                drop=drop.id,
                key=drop.key,
                version_id=drop.version_id,
                format="openai_pairs",
                evidence="every record has messages",
                records=2,
                usable=1,
                rejected=1,
                problems=(problem,),
                problem_count=1,
            )
            for drop in self._plan(spec).drops
        )

    def _plan(self, spec: JobSpec) -> Plan:
        return Plan.from_bytes(self._read(layout.plan(spec.run)), where="plan.json")

    def _there(self, key: str) -> bool:
        return self.objects.head(key) is not None

    def _read(self, key: str) -> bytes:
        body = self.objects.get(key, limit=_ALL)
        assert body is not None, key
        return body
