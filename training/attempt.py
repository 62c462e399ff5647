"""One attempt, from its spec to its last word."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from contracts import layout
from contracts.artifact import ArtifactRef
from contracts.errors import DeadlineExceeded
from contracts.job import JobSpec
from contracts.result import Failure, PhaseResult
from training.artifacts import refuse_if_fenced, refuse_if_stopped, send
from training.assignment import Assignment, read_assignment
from training.cluster import join
from training.events import Advance, Done
from training.hearing import Hearing
from training.last_words import failure_of
from training.objects import Objects
from training.phases.registry import PHASES
from training.reporter import Reporter
from training.sagemaker import SageMaker
from training.stopping import StopRequest
from training.stopwatch import Stopwatch

logger = logging.getLogger(__name__)


class Attempt:
    """Runs one job spec to its end and answers in `result.json`."""

    def __init__(self, spec: JobSpec, objects: Objects) -> None:
        self._spec = spec
        self._objects = objects
        self._reporter = Reporter(spec, objects)
        self._watch = Stopwatch()
        self._started_at = datetime.now(UTC)
        self._deadline = _deadline(spec, self._started_at)
        self._hearing: Hearing | None = None
        self._sagemaker = SageMaker()

    def run(self) -> int:
        """Do it all.

        Returns:
            The process's exit code: 0 with a result that succeeded, 1 with one that failed,
            128 and the signal's number without any.
        """
        self._reporter.report(Advance(f"Starting {self._spec.phase}"))
        try:
            refuse_if_stopped(self._objects, self._spec)
            assignment = read_assignment(self._objects, self._spec)
            with StopRequest(assignment.stop_mark) as stop:
                self._hearing = Hearing(self._reporter, stop)
                done = self._work(assignment, stop, self._hearing)
                return stop.exit_code if done is None else self._succeed(assignment, done)
        except Exception as error:  # The last words: someone must hear whatever it was.
            logger.exception("the attempt failed")
            return self._fail(failure_of(error))

    def _work(self, assignment: Assignment, stop: StopRequest, hearing: Hearing) -> Done | None:
        steps = PHASES[self._spec.phase]
        stop.at(self._deadline, last_resort=self._fail_late)
        stop.listen(lambda: hearing.working)
        with self._watch.stage("joining Ray"):
            cluster = join()
        # Once more, as Ray puts a handler of its own in its place.
        stop.listen(lambda: hearing.working)
        try:
            with self._watch.stage("verifying inputs"):
                self._reporter.report(Advance("Fetching and verifying inputs"))
                with self._reporter.repeating():
                    materials = steps.prepare(assignment, self._objects)
            with self._watch.stage("work"):
                events = cluster.events(steps.work, assignment, materials)
                done = hearing.listen(cluster, events, assignment)
        finally:
            with self._watch.stage("leaving Ray"):
                cluster.leave()
        if stop.reason == "deadline":
            raise self._late()
        return None if stop.reason else done

    def _fail_late(self) -> None:
        self._fail(failure_of(self._late()))

    def _late(self) -> DeadlineExceeded:
        return DeadlineExceeded(
            f"{self._spec.key.job_name} reached its deadline, {self._deadline:%F %T %Z}; "
            "raise patience.timeout_s in the pipeline, or give it less to do"
        )

    def _succeed(self, assignment: Assignment, done: Done) -> int:
        artifacts = dict(done.artifacts)
        with self._watch.stage("exporting"):
            for name, export in done.exports.items():
                self._reporter.report(Advance("Exporting the policy"))
                artifacts[name] = send(self._objects, export, assignment)
            if "export" in done.exports:
                self._sagemaker.keep_model(done.exports["export"].folder)
        refuse_if_fenced(self._objects, assignment)
        result = self._result(done, artifacts)
        return 0 if self._put(result) else 1

    def _result(self, done: Done, artifacts: dict[str, ArtifactRef]) -> PhaseResult:
        work = {f"work: {stage}": seconds for stage, seconds in done.seconds.items()}
        return self._frame().model_copy(
            update={
                "outcome": done.outcome,
                "artifacts": artifacts,
                "metrics": dict(done.metrics),
                "resumed_from": done.resumed_from,
                "notes": done.notes,
                "seconds": self._watch.seconds | work,
            }
        )

    def _fail(self, failure: Failure) -> int:
        result = self._frame().model_copy(
            update={"failure": failure, "seconds": self._watch.seconds}
        )
        self._put(result)
        return 1

    def _frame(self) -> PhaseResult:
        return PhaseResult(
            run=self._spec.run,
            round=self._spec.round,
            phase=self._spec.phase,
            attempt=self._spec.attempt,
            nonce=self._spec.nonce,
            outcome="failed",
            objects=self._hearing.inspected if self._hearing else (),
            started_at=self._started_at,
            ended_at=datetime.now(UTC),
        )

    def _put(self, result: PhaseResult) -> bool:
        key = layout.result(self._spec.key)
        # Built by model_copy, which validates nothing, so it is read back before it goes out.
        read = PhaseResult.from_bytes(result.to_bytes(), where=key)
        if self._objects.put_once(key, read.to_bytes()):
            self._sagemaker.keep_result(read)
            return True
        logger.error("%s exists already and stays as it is", key)
        return False


def _deadline(spec: JobSpec, started_at: datetime) -> datetime:
    """The spec's deadline, or when the job has worked as long as it may."""
    if spec.timeout_s is None:
        return spec.deadline
    return min(spec.deadline, started_at + timedelta(seconds=spec.timeout_s))
