"""The runner's port over RayJobs: desired state, which any call may be repeated to reach.

`job.json` and `stop.json` are put before the cluster is spoken to. So a cluster that does not
answer costs no attempt: what was to be made or deleted is, by a later turn of the sweep. Both
sides write, then look: `stop` puts its mark before it deletes, `start` looks for the mark after
it created, so a job that was stopped meanwhile does not stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from contracts import layout
from contracts.errors import (
    ClusterRefused,
    JobConflict,
    PermanentError,
    RelayError,
    ServiceUnavailable,
)
from contracts.job import Claim, Exit, JobSpec, Stop
from contracts.limits import CAUSE_MAX, STATUS_OBJECT_BYTES_MAX
from contracts.names import AttemptKey
from lambdas.adapters.kuberay import pods, reasons
from lambdas.adapters.kuberay.cluster import Cluster
from lambdas.adapters.kuberay.labels import DIGEST, ROLE, key_from
from lambdas.adapters.kuberay.rayjob import rayjob, spec_digest
from lambdas.adapters.kuberay.status import look_of, status_of
from lambdas.adapters.kuberay.words import end_of_log
from lambdas.observing import logger
from lambdas.ports import Clock, Look, Objects
from lambdas.settings import Settings

WORDS_MAX = CAUSE_MAX // 2
_ASIDE_MAX = 250


class KubeRayRunner:
    """A RayJob per attempt."""

    def __init__(
        self, objects: Objects, cluster: Cluster, settings: Settings, clock: Clock
    ) -> None:
        self._objects = objects
        self._cluster = cluster
        self._settings = settings
        self._clock = clock

    @property
    def queues(self) -> bool:
        """Whether jobs are put into a queue of Kueue's."""
        return bool(self._settings.job_queue_name)

    def start(self, spec: JobSpec) -> None:
        """Put `job.json` if none is there, then make the RayJob, once.

        A cluster that does not answer is no error: `ring` makes the RayJob later.

        Raises:
            JobConflict: another job is there under this attempt's name.
            ClusterRefused: the cluster does not let this role in.
            PipelineInvalid: the deployment has no hardware that fits the pipeline.
            JobInvalid: the cluster does not take the RayJob.
        """
        key = spec.key
        body = spec.to_bytes()
        if not self._objects.put_if_absent(layout.job(key), body) and (
            self._read(layout.job(key)) != body
        ):
            raise JobConflict(f"{layout.job(key)} holds another job; the attempt's name is taken")
        if self._is_done_with(spec):
            return
        try:
            self._create(spec)
        except ServiceUnavailable as error:
            logger.warning("the cluster does not answer", job=key.job_name, trouble=str(error))

    def ring(self, key: AttemptKey) -> None:
        """Make the RayJob if that did not succeed yet."""
        body = self._read(layout.job(key))
        if body is not None and self._read(layout.claim(key)) is None:
            self.start(JobSpec.from_bytes(body, where=layout.job(key)))

    def look(self, key: AttemptKey) -> Look:
        """See how the RayJob is; a job is there until its last pod is gone."""
        try:
            found = self._cluster.get(key.job_name)
            if found is None:
                return self._look_without(key)
            seen = look_of(status_of(found))
            if seen.state in {"queued", "waiting"}:
                return seen._replace(reason=self._why(found, seen))
        except ServiceUnavailable as error:
            return Look("unknown", f"the cluster's API does not answer: {error}")
        except ClusterRefused as error:
            # Sweep's listing still fails aloud; a job that waits or runs is not to die of it.
            return Look("unknown", f"the cluster does not let us look: {error}")
        return seen

    def stop(self, key: AttemptKey, reason: str) -> None:
        """Put `stop.json`, then delete the RayJob, whose pods have time to save."""
        mark = Stop(reason=reason, at=self._clock.now())
        self._objects.put_if_absent(layout.stop(key), mark.to_bytes())
        try:
            self._cluster.delete(key.job_name)
        except ServiceUnavailable as error:
            logger.warning("the cluster does not answer", job=key.job_name, trouble=str(error))

    def list(self) -> tuple[AttemptKey, ...]:
        """Attempts whose RayJobs are in the namespace, ended ones too, the oldest first.

        Raises:
            ServiceUnavailable: the cluster does not answer.
        """
        found = map(key_from, self._cluster.labels_of(self._settings.bucket))
        return tuple(key for key in found if key is not None)

    def last_words(self, key: AttemptKey) -> str:
        """How the pods ended, and the end of the driver's log; whatever keeps them from us."""
        try:
            found = self._cluster.pods(key.job_name)
            told = [reasons.how_killed(found), self._end_of_log(found)]
        except RelayError as error:
            return f"its log cannot be read: {error}"[:_ASIDE_MAX]
        return "; ".join(part for part in told if part)

    def _is_done_with(self, spec: JobSpec) -> bool:
        """Whether the RayJob was made before, or must not be made any more."""
        key = spec.key
        if self._read(layout.claim(key)) is not None:
            return True
        if self._read(layout.stop(key)) is not None:
            return self._refuse(key, "stopped before its RayJob was made")
        if self._clock.now() >= spec.deadline:
            return self._refuse(key, "its deadline had passed before its RayJob was made")
        return False

    def _refuse(self, key: AttemptKey, why: str) -> Literal[True]:
        mark = Exit(how="refused", detail=why, at=self._clock.now())
        self._objects.put_if_absent(layout.exit_(key), mark.to_bytes())
        return True

    def _create(self, spec: JobSpec) -> None:
        key = spec.key
        if not self._cluster.create(rayjob(spec, self._settings, self._clock.now())):
            self._check_that_it_is_ours(spec)
        where = f"{self._settings.cluster_name}/{self._settings.cluster_namespace}"
        mark = Claim(agent=f"kuberay {where}", at=self._clock.now())
        self._objects.put_if_absent(layout.claim(key), mark.to_bytes())
        if self._read(layout.stop(key)) is not None:
            self._cluster.delete(key.job_name)

    def _check_that_it_is_ours(self, spec: JobSpec) -> None:
        there = self._cluster.get(spec.key.job_name)
        if there is None:
            raise ServiceUnavailable(f"RayJob {spec.key.job_name} was there and is gone")
        digest = there["metadata"].get("annotations", {}).get(DIGEST)
        if digest != spec_digest(spec):
            raise JobConflict(
                f"RayJob {spec.key.job_name} is of another job ({DIGEST} {digest}); "
                "is the namespace shared with a stranger?"
            )

    def _look_without(self, key: AttemptKey) -> Look:
        if reasons.alive(self._cluster.pods(key.job_name)):
            return Look("running", "its RayJob is gone, its pods still end")
        refused = self._read(layout.exit_(key))
        if refused is not None:
            mark = Exit.from_bytes(refused, where=layout.exit_(key))
            return Look("ended", f"{mark.how}: {mark.detail}")
        stopped = self._read(layout.stop(key))
        if stopped is not None:
            mark_ = Stop.from_bytes(stopped, where=layout.stop(key))
            return Look("ended", f"stopped: {mark_.reason}")
        if self._read(layout.claim(key)) is not None:
            # The RayJob was made before its claim, but perhaps after it was looked for above.
            found = self._cluster.get(key.job_name)
            return look_of(None if found is None else status_of(found))
        if self._read(layout.job(key)) is None:
            return Look("absent", "no job was put")
        return Look("waiting", "its RayJob could not be made yet; the next turn tries again")

    def _why(self, found: dict[str, Any], seen: Look) -> str:
        """Why it waits; lacking the right to see that is no reason to let the job die."""
        try:
            return self._told_why(found, seen)
        except PermanentError as error:
            return f"{seen.reason}; why cannot be read: {error}"[:_ASIDE_MAX]

    def _told_why(self, found: dict[str, Any], seen: Look) -> str:
        if seen.state == "queued":
            return reasons.why_queued(self._cluster.workloads(found["metadata"].get("uid", "")))
        name = str(found["metadata"]["name"])
        there = self._cluster.pods(name)
        told_by = reasons.silent_pod(there) or found.get("status", {}).get("rayClusterName") or name
        why = reasons.why_starting(there, self._cluster.events(told_by))
        return why or seen.reason

    def _end_of_log(self, found: Sequence[dict[str, Any]]) -> str:
        by_role = {it["metadata"].get("labels", {}).get(ROLE): it for it in found}
        pod = by_role.get(pods.SUBMITTER) or by_role.get(pods.HEAD)
        if pod is None:
            return ""
        container = pods.container_of(pod["metadata"]["labels"][ROLE])
        end = end_of_log(self._cluster.log(pod["metadata"]["name"], container), WORDS_MAX)
        return f"its log ends: {end}" if end else ""

    def _read(self, key: str) -> bytes | None:
        return self._objects.get(key, limit=STATUS_OBJECT_BYTES_MAX)
