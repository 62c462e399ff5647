"""The loop: look at every job in flight, take new ones while there is room."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from botocore.exceptions import BotoCoreError, ClientError

from contracts import layout
from contracts.errors import ContractBroken, RelayError
from contracts.job import Claim as ClaimRecord
from contracts.job import JobSpec
from relay.agent import decisions
from relay.agent.decisions import Claim, Ending, Finish, Forget, Sight, Start, Stop
from relay.agent.endings import SHUT_DOWN, exit_of, result_of
from relay.agent.fitting import misfit
from relay.agent.in_flight import Begun, InFlight
from relay.agent.ports import (
    RAY_ENDED,
    Clock,
    Doorbell,
    Doorbells,
    JobLook,
    Jobs,
    Objects,
    Processes,
)
from relay.agent.ray_health import RayHealth

log = logging.getLogger("relay.agent")

OUTSIDE_ERRORS = (ClientError, BotoCoreError, RelayError, OSError)
"""What a call to a service may raise; the loop goes on and tries again at the next turn."""
LEAVE_GRACE_S = 1.0


@dataclass
class Stopping:
    """When Ray was first and last asked to stop a job."""

    first: datetime
    last: datetime


@dataclass
class Agent:
    """Jobs of one queue on one Ray.

    Attributes:
        environment: what a job's process gets on top of Ray's own environment.
        at_once: jobs that run at the same time.
    """

    objects: Objects
    doorbells: Doorbells
    jobs: Jobs
    processes: Processes
    health: RayHealth
    in_flight: InFlight
    clock: Clock
    environment: Mapping[str, str]
    at_once: int
    leaving: threading.Event = field(default_factory=threading.Event)
    _stopping: dict[str, Stopping] = field(default_factory=dict)

    def turn(self) -> None:
        """Look at what is in flight, then listen at the door for a second or two."""
        self.health.look()
        self.review()
        if self.leaving.is_set():
            return
        busy = len(self.in_flight.jobs())
        room = self.at_once - busy
        if room > 0 and self.health.well:
            for doorbell in self.doorbells.receive(room, 1 if busy else 2):
                self._answer(doorbell)
        else:
            self.leaving.wait(1)

    def review(self) -> None:
        """One look at every job in flight; one job's trouble does not keep it from the others."""
        for name, begun in self.in_flight.jobs().items():
            try:
                self._advance(begun)
            except OUTSIDE_ERRORS as error:
                log.warning("%s: %s; looking again soon", name, error)

    def leave(self) -> None:
        """End every job in flight and say so; what cannot be said now is said after a restart."""
        begun = list(self.in_flight.jobs().values())
        self.processes.end([mark_of(one.spec) for one in begun], LEAVE_GRACE_S)
        for one in begun:
            try:
                self._finish(one, SHUT_DOWN)
            except OUTSIDE_ERRORS as error:
                log.warning("%s: its end is not on record yet: %s", one.spec.key.job_name, error)

    def _answer(self, doorbell: Doorbell) -> None:
        """See to one message; it stays in the queue if the job could not be looked at."""
        try:
            spec = self.objects.spec(doorbell.job)
        except (ContractBroken, ValueError) as error:
            log.error("doorbell for %s: %s", doorbell.job, error)
            spec = None
        if spec is None:
            log.warning("doorbell for %s: no such job", doorbell.job)
        elif spec.key.job_name not in self.in_flight.jobs():
            begun = Begun(spec=spec, stage="claiming", since=self.clock.now())
            self.in_flight.put(begun)
            self._advance(begun)
        self.doorbells.delete(doorbell)

    def _advance(self, begun: Begun) -> None:
        """Take steps until there is nothing to do but wait."""
        current: Begun | None = begun
        while current is not None:
            current = self._step(current)

    def _step(self, begun: Begun) -> Begun | None:
        """Do the next thing; the job as it then is, or None when it is time to wait."""
        key = begun.spec.key
        match decisions.decide(self._sight(begun)):
            case Claim():
                claim = ClaimRecord(agent=self.in_flight.agent, at=self.clock.now())
                self.objects.put_claim(key, claim)
                return begun
            case Start():
                self._start(begun)
            case Stop(ask=ask, hard=hard):
                self._stop(begun, ask=ask, hard=hard)
            case Finish(ending=ending):
                self._finish(begun, ending)
            case Forget(reason=reason):
                log.info("%s: %s", key.job_name, reason)
                self.in_flight.drop(key.job_name)
        return None

    def _sight(self, begun: Begun) -> Sight:
        key, now = begun.spec.key, self.clock.now()
        stop = self.objects.stop(key)
        ray = self._look(begun)
        stopping = self._stopping.get(key.job_name)
        over = ray.state in RAY_ENDED or ray.state in {"ABSENT", "DEAD"}
        claiming = begun.stage == "claiming"
        bounded = claiming and not self.health.keeper.grows()
        room = self.jobs.room() if bounded else None
        return Sight(
            me=self.in_flight.agent,
            stage=begun.stage,
            claimed_by=self.objects.claimed_by(key) if claiming else self.in_flight.agent,
            stop_reason=stop.reason if stop else None,
            exited=self.objects.exited(key) if claiming else False,
            deadline=begun.spec.deadline,
            now=now,
            ray=ray,
            misfit=misfit(begun.spec, room) if room else None,
            room_unknown=bounded and room is None,
            process_alive=over and self.processes.alive(mark_of(begun.spec)),
            stopping_s=(now - stopping.first).total_seconds() if stopping else None,
            asked_s=(now - stopping.last).total_seconds() if stopping else None,
        )

    def _look(self, begun: Begun) -> JobLook:
        dead = self.health.dead_since
        if begun.stage == "started" and dead is not None and begun.since <= dead:
            return JobLook("DEAD")
        return self.jobs.look(begun.spec.key.job_name)

    def _start(self, begun: Begun) -> None:
        name = begun.spec.key.job_name
        self.in_flight.put(begun.model_copy(update={"stage": "started"}))
        self.jobs.start(name, command_of(begun.spec), self.environment)
        log.info("%s: started", name)

    def _stop(self, begun: Begun, *, ask: bool, hard: bool) -> None:
        name, now = begun.spec.key.job_name, self.clock.now()
        if ask:
            log.info("%s: asking Ray to stop it", name)
            self.jobs.stop(name)
            first = self._stopping[name].first if name in self._stopping else now
            self._stopping[name] = Stopping(first, now)
        if hard:
            log.warning("%s: killing its processes", name)
            self.processes.end([mark_of(begun.spec)], LEAVE_GRACE_S)

    def _finish(self, begun: Begun, ending: Ending) -> None:
        key, now = begun.spec.key, self.clock.now()
        if ending.error is not None:
            result = result_of(begun.spec, ending, begun.since, now)
            if self.objects.put_result(result):
                log.warning("%s: no result of its own; %s", key.job_name, ending.cause)
        self.objects.put_exit(key, exit_of(ending, now))
        log.info("%s: %s", key.job_name, ending.how)
        self.in_flight.drop(key.job_name)
        self._stopping.pop(key.job_name, None)


def job_address(spec: JobSpec) -> str:
    """Where the job reads what it is to do."""
    return layout.s3_uri(spec.bucket, layout.job(spec.key))


def command_of(spec: JobSpec) -> list[str]:
    """The job's process."""
    return [sys.executable, "-m", "training", "--job", job_address(spec)]


def mark_of(spec: JobSpec) -> str:
    """What only this job's processes have on their command line."""
    return f"-m training --job {job_address(spec)}"
