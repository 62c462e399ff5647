"""What the agent does about a job, given all that it can see of it. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from contracts.limits import CAUSE_MAX
from relay.agent.ports import RAY_ENDED, JobLook, RayState

Stage = Literal["claiming", "started"]
"""How far this agent has gone: `started` is written down before Ray is asked to start the job,
so that one attempt is started at most once."""

DEADLINE_GRACE_S = 5.0
"""A job ends itself at its deadline; the agent ends it this much later."""
ASK_AGAIN_S = 5.0
KILL_AFTER_S = 8.0
"""Ray itself kills 3 s after it was asked; the agent no longer waits for Ray after this."""


_GOES_ON = "a new attempt goes on from its last checkpoint"
_LOST: dict[RayState, str] = {
    "ABSENT": f"Ray does not know the job: it was started anew, or did not take it; {_GOES_ON}",
    "DEAD": f"Ray went away while the job ran; {_GOES_ON}",
}


@dataclass(frozen=True)
class Sight:
    """One look at one job.

    Attributes:
        me: this agent.
        stage: how far this agent had gone.
        claimed_by: the agent named in `claim.json`.
        stop_reason: the reason in `stop.json`; None when there is none.
        exited: whether `exit.json` is there.
        deadline: when the job ends itself.
        now: the time of the look.
        ray: what Ray says.
        misfit: why the job can never start on this Ray; None when it may.
        room_unknown: whether a Ray that does not grow has yet to say what it has.
        process_alive: whether a process of the job lives on this machine.
        stopping_s: seconds since Ray was first asked to stop the job; None when it was not.
        asked_s: seconds since Ray was last asked to.
    """

    me: str
    stage: Stage
    claimed_by: str | None
    stop_reason: str | None
    exited: bool
    deadline: datetime
    now: datetime
    ray: JobLook
    misfit: str | None = None
    room_unknown: bool = False
    process_alive: bool = False
    stopping_s: float | None = None
    asked_s: float | None = None


@dataclass(frozen=True)
class Ending:
    """How a job ended, and the failure to report if it left no result itself."""

    how: Literal["succeeded", "failed", "stopped", "lost", "refused"]
    error: str | None
    cause: str


@dataclass(frozen=True)
class Claim:
    """Put the claim."""


@dataclass(frozen=True)
class Start:
    """Write down that it starts, then start it."""


@dataclass(frozen=True)
class Wait:
    """Nothing to do until the next look."""


@dataclass(frozen=True)
class Stop:
    """End the job: ask Ray, and when `hard` also kill its processes."""

    ask: bool
    hard: bool


@dataclass(frozen=True)
class Finish:
    """Put the result if there is none, then the exit; then forget the job."""

    ending: Ending


@dataclass(frozen=True)
class Forget:
    """The job is nobody's business here any more."""

    reason: str


Action = Claim | Start | Wait | Stop | Finish | Forget


def decide(sight: Sight) -> Action:
    """The one next step for a job."""
    if sight.exited:
        return Forget("its end is already on record")
    return _before_start(sight) if sight.stage == "claiming" else _after_start(sight)


def _before_start(sight: Sight) -> Action:
    if sight.claimed_by not in {None, sight.me}:
        return Forget(f"{sight.claimed_by} has it")
    if sight.stop_reason is not None:
        return Finish(Ending("refused", None, f"stopped before it started: {sight.stop_reason}"))
    if sight.now >= sight.deadline:
        return Finish(Ending("refused", None, "its deadline had passed before it started"))
    if sight.claimed_by is None:
        return Claim()
    if sight.misfit is not None:
        return Finish(Ending("refused", "PipelineInvalid", _line(sight.misfit)))
    away = sight.room_unknown or sight.ray.state in {"UNREACHABLE", "DEAD"}
    return Wait() if away else Start()


def _after_start(sight: Sight) -> Action:
    state = sight.ray.state
    if state in RAY_ENDED or state in _LOST:
        if sight.process_alive:
            return Stop(ask=False, hard=True)
        return Finish(_ending(sight))
    if not _must_end(sight):
        return Wait()
    ask = sight.asked_s is None or sight.asked_s >= ASK_AGAIN_S
    hard = sight.stopping_s is not None and sight.stopping_s >= KILL_AFTER_S
    return Stop(ask=ask, hard=hard) if ask or hard else Wait()


def _overdue(sight: Sight) -> bool:
    return (sight.now - sight.deadline).total_seconds() >= DEADLINE_GRACE_S


def _must_end(sight: Sight) -> bool:
    return sight.stop_reason is not None or _overdue(sight)


def _ending(sight: Sight) -> Ending:
    state = sight.ray.state
    if state == "SUCCEEDED":
        return Ending("succeeded", "JobCrashed", "the job ended without leaving a result")
    if sight.stop_reason is not None:
        return Ending("stopped", "JobStopped", _line(f"stopped on request: {sight.stop_reason}"))
    if _overdue(sight):
        return Ending("stopped", "DeadlineExceeded", "the job ran past its deadline and was ended")
    if state in _LOST:
        return Ending("lost", "JobCrashed", _LOST[state])
    if state == "STOPPED":
        return Ending("stopped", "JobCrashed", "the job was stopped in Ray, not by the pipeline")
    return Ending("failed", "JobCrashed", _line(_last_words(sight.ray)))


def _last_words(look: JobLook) -> str:
    if look.exit_code is not None and look.exit_code < 0:
        why = " (was memory short?)" if -look.exit_code == signal.SIGKILL else ""
        how = f"was killed by signal {-look.exit_code}{why}"
    elif look.exit_code is not None:
        how = f"ended with exit code {look.exit_code}"
    else:
        how = "ended"
    words = f": {look.message}" if look.message else ""
    return f"the job's process {how} and left no result{words}"


def _line(text: str) -> str:
    """One printable line within a cause's length."""
    return " ".join(text.split())[:CAUSE_MAX]
