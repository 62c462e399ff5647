"""A stand-in for Ray's Jobs API: each job is a process of this machine, nothing else is Ray."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relay.agent.ports import JobLook, Room


@dataclass
class Job:
    process: subprocess.Popen[bytes]
    stopped: bool = False


@dataclass
class ProcessRay:
    """Fulfils `Jobs`; `crash` and `come_back` play the death and restart of a Ray head."""

    jobs: dict[str, Job] = field(default_factory=dict)
    up: bool = True
    deaf: bool = False
    has: Room | None = field(default_factory=lambda: Room(cpus=2, gpus=0))
    starts: list[str] = field(default_factory=list)
    environments: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.starts.append(name)
        self.environments[name] = environment
        if name in self.jobs:
            return
        process = subprocess.Popen(
            list(command), env={**os.environ, **environment}, start_new_session=True
        )
        self.jobs[name] = Job(process)

    def look(self, name: str) -> JobLook:
        if not self.up:
            return JobLook("UNREACHABLE")
        job = self.jobs.get(name)
        if job is None:
            return JobLook("ABSENT")
        code = job.process.poll()
        if code is None:
            return JobLook("RUNNING")
        if job.stopped:
            return JobLook("STOPPED")
        return JobLook("FAILED" if code else "SUCCEEDED", code, "")

    def stop(self, name: str) -> None:
        if self.up and not self.deaf and name in self.jobs:
            job = self.jobs[name]
            job.stopped = job.stopped or job.process.poll() is None
            job.process.terminate()

    def reachable(self) -> bool:
        return self.up

    def room(self) -> Room | None:
        return self.has if self.up else None

    def crash(self) -> None:
        """The head dies: it answers nothing, and forgets its jobs; their processes live on."""
        self.up = False

    def come_back(self) -> None:
        self.jobs, self.up = {}, True

    def clear(self) -> None:
        for job in self.jobs.values():
            job.process.kill()
            job.process.wait()


def sleeper(seconds: float, exit_code: int = 0, *marks: str) -> list[str]:
    """A command that does nothing for a while; `marks` are more arguments to find it by."""
    code = f"import time, sys; time.sleep({seconds}); sys.exit({exit_code})"
    return [sys.executable, "-c", code, *marks]
