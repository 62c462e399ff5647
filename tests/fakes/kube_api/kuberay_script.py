"""KubeRay, played: each RayJob lives its story, under the rules that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from fakes.kube_api.clock import read_stamp
from fakes.kube_api.cluster_events import tell
from fakes.kube_api.kuberay_play import FINALIZER, KubeRayPlay
from fakes.kube_api.kuberay_rules import problems
from fakes.kube_api.kuberay_stories import Pause, Story, healthy
from fakes.kube_api.pod_log import PodLogs
from fakes.kube_api.refusals import Refused
from fakes.kube_api.store import Object, Store
from fakes.kube_api.work import Idle, Work

OVER = {"Complete", "Failed", "ValidationFailed"}
NEVER_RETRIED = {"DeadlineExceeded", "JobStatusCheckTimeoutExceeded"}


@dataclass
class _Course:
    """How far a RayJob has come in its story."""

    play: KubeRayPlay
    story: object
    pause: Pause = 0
    since: datetime = field(default_factory=lambda: datetime.min)
    ended: bool = False


class KubeRay:
    """The operator.

    Attributes:
        story_of: what becomes of a RayJob; a healthy life by default.
        work_of: what its Ray job does; half a second of nothing by default.
        deleting_s: how long the Ray job of a deleted RayJob takes to stop.
    """

    def __init__(self, store: Store, logs: PodLogs) -> None:
        self._store = store
        self._logs = logs
        self._courses: dict[str, _Course] = {}
        self.story_of: Callable[[Object], Story] = lambda _job: healthy
        self.work_of: Callable[[Object], Work] = lambda _job: Idle(store.clock, 0.5)
        self.deleting_s: float = 0

    def step(self) -> None:
        """Move every RayJob on as far as it comes without waiting."""
        jobs, _ = self._store.list(self._store.kinds.of("rayjobs"))
        for job in jobs:
            try:
                self._move(job)
            except Refused as refused:
                # It changed or went while we looked, as happens to real controllers.
                if refused.code not in (404, 409):
                    raise

    def close(self) -> None:
        for course in self._courses.values():
            course.play.work.stop()

    def _move(self, job: Object) -> None:
        if "deletionTimestamp" in job["metadata"]:
            self._let_go(job)
            return
        state = job.get("status", {}).get("jobDeploymentStatus", "")
        if not state and (wrong := problems(job)):
            self._refuse(job, "; ".join(wrong))
        elif state in OVER:
            self._after_the_end(job)
        elif state == "Retrying":
            self._begin_again(job)
        elif job["spec"].get("suspend") or state == "Suspending":
            self._suspend(job, state)
        elif state == "Suspended":
            self._forget(job)
            self._play_of(job).tell(jobDeploymentStatus="", jobId="", rayClusterName="")
        else:
            self._go_on(job, state)

    def _refuse(self, job: Object, why: str) -> None:
        name = "ValidationFailed"
        self._play_of(job).tell(jobDeploymentStatus=name, reason=name, message=why)
        tell(self._store, job, "InvalidRayJobSpec", why, warning=True)

    def _go_on(self, job: Object, state: str) -> None:
        course = self._course(job)
        if self._overdue(job, state):
            course.play.give_up(*self._overdue(job, state))
            return
        self._advance(course)

    def _advance(self, course: _Course) -> None:
        while not course.ended and self._may_go_on(course):
            try:
                course.pause = next(course.story)  # type: ignore[call-overload]
            except StopIteration:
                course.ended = True
            course.since = self._store.clock.now()

    def _may_go_on(self, course: _Course) -> bool:
        if callable(course.pause):
            return course.pause()
        return (self._store.clock.now() - course.since).total_seconds() >= course.pause

    def _overdue(self, job: Object, state: str) -> tuple[str, str] | None:
        """What deadline has passed, counted from when KubeRay took the RayJob up."""
        status, spec = job.get("status", {}), job["spec"]
        if "startTime" not in status:
            return None
        age = (self._store.clock.now() - read_stamp(status["startTime"])).total_seconds()
        if age > spec.get("activeDeadlineSeconds", age):
            return (
                "DeadlineExceeded",
                f"The RayJob has passed the activeDeadlineSeconds. "
                f"StartTime: {status['startTime']}. "
                f"ActiveDeadlineSeconds: {spec['activeDeadlineSeconds']}",
            )
        if state == "Initializing" and age > spec.get("preRunningDeadlineSeconds", age):
            return "PreRunningDeadlineExceeded", "The RayJob was not running in time"
        return None

    def _suspend(self, job: Object, state: str) -> None:
        course = self._courses.get(job["metadata"]["uid"])
        play = course.play if course else self._play_of(job)
        if state in ("Initializing", "Running"):
            play.work.stop()
            play.tell(jobDeploymentStatus="Suspending")
            play.delete_cluster()
            play.delete_submitter()
        play.tell(
            jobDeploymentStatus="Suspended",
            jobId=None,
            rayClusterName=None,
            jobStatus=None,
            rayClusterStatus=None,
            startTime=None,
            dashboardURL=None,
        )
        self._forget(job)

    def _after_the_end(self, job: Object) -> None:
        """Try again if the RayJob asks for it, else clean up in time."""
        status, spec = job["status"], job["spec"]
        if (
            status["jobDeploymentStatus"] == "Failed"
            and status.get("failed", 0) <= spec.get("backoffLimit", 0)
            and status.get("reason") not in NEVER_RETRIED
        ):
            self._play_of(job).tell(jobDeploymentStatus="Retrying")
            return
        if not spec.get("shutdownAfterJobFinishes") or "endTime" not in status:
            return
        age = (self._store.clock.now() - read_stamp(status["endTime"])).total_seconds()
        if age >= spec.get("ttlSecondsAfterFinished", 0):
            self._play_of(job).delete_cluster()

    def _begin_again(self, job: Object) -> None:
        play = self._play_of(job)
        play.delete_cluster()
        play.delete_submitter()
        self._forget(job)
        play.tell(
            jobDeploymentStatus="",
            jobStatus=None,
            jobId=None,
            rayClusterName=None,
            reason=None,
            message=None,
            endTime=None,
            startTime=None,
        )

    def _let_go(self, job: Object) -> None:
        course = self._courses.get(job["metadata"]["uid"])
        if course is not None:
            course.play.work.stop()
        asked = read_stamp(job["metadata"]["deletionTimestamp"])
        waited = (self._store.clock.now() - asked).total_seconds()
        if FINALIZER not in job["metadata"].get("finalizers", []) or waited < self.deleting_s:
            return
        play = self._play_of(job)
        play.delete_cluster()
        play.release()
        self._forget(job)

    def _course(self, job: Object) -> _Course:
        uid = job["metadata"]["uid"]
        if uid not in self._courses:
            play = self._play_of(job)
            play.hold()
            self._courses[uid] = _Course(play, self.story_of(job)(play))
            self._courses[uid].since = self._store.clock.now()
        return self._courses[uid]

    def _play_of(self, job: Object) -> KubeRayPlay:
        course = self._courses.get(job["metadata"]["uid"])
        if course is not None:
            return course.play
        return KubeRayPlay(self._store, self._logs, job, self.work_of(job))

    def _forget(self, job: Object) -> None:
        self._courses.pop(job["metadata"]["uid"], None)
