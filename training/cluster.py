"""Running a phase's work in Ray, and hearing from it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

from contracts.counting import agreeing
from contracts.errors import JobCrashed, JobNotStarted, ServiceUnavailable
from training.assignment import Assignment
from training.events import Event, Materials, Work

logger = logging.getLogger(__name__)
TICK_S = 0.25
"""Longest time between two signs from `events`, so that the driver can look at the clock."""


class RayCluster:
    """The Ray that is running; the work is one task of it, which dies with this process."""

    def __init__(self, address: str) -> None:
        """Join.

        Args:
            address: of the cluster, or `auto` for the one that runs on this machine.

        Raises:
            ServiceUnavailable: it does not answer.
        """
        import ray

        try:
            ray.init(address=address, logging_level=logging.WARNING, log_to_driver=True)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise ServiceUnavailable(
                f"Ray at {address} does not answer: {error}; is it running?"
            ) from error
        self.where = f"Ray at {address}"

    def events(
        self, work: Work, assignment: Assignment, materials: Materials
    ) -> Iterator[Event | None]:
        """Run the work with the CPUs and GPUs that the job asks for.

        Yields:
            Its events, and None whenever there was none for `TICK_S`.

        Raises:
            RelayError: what the work raised, or `JobCrashed` when its process died.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        hardware = assignment.spec.hardware
        task = ray.remote(
            # Learners bring their own; the work then only listens to them.
            num_cpus=0 if assignment.together else hardware.cpus,
            num_gpus=0 if assignment.together else hardware.gpus,
            num_returns="streaming",
            max_retries=0,
        )(work)
        stream: Any = task.options(name=assignment.spec.key.job_name).remote(
            assignment, dict(materials)
        )
        while True:
            ready, _ = ray.wait([stream], timeout=TICK_S)
            if not ready:
                yield None
                continue
            try:
                event: Event = ray.get(next(stream))
            except StopIteration:
                return
            except RayTaskError as error:
                raise error.cause from error
            except RayError as error:
                raise JobCrashed(f"the work's process died: {_first_line(error)}") from error
            yield event

    def shortage(self, assignment: Assignment) -> str:
        """Why the work may be waiting, in an operator's words."""
        import ray

        hardware = assignment.spec.hardware
        there = ray.cluster_resources()  # type: ignore[no-untyped-call]
        return (
            f"Waiting for Ray: {hardware.cpus:g} {agreeing(hardware.cpus, 'CPU')} and "
            f"{hardware.gpus:g} {agreeing(hardware.gpus, 'GPU')}, of "
            f"{there.get('CPU', 0):g} and {there.get('GPU', 0):g}"
        )

    def leave(self) -> None:
        """End the task, should it still run, and leave the cluster."""
        import ray

        ray.shutdown()


class ThisProcess:
    """No cluster: the work is done here, in the driver itself."""

    where = "this process"

    def events(
        self, work: Work, assignment: Assignment, materials: Materials
    ) -> Iterator[Event | None]:
        """Run the work; see `RayCluster.events`."""
        yield from work(assignment, materials)

    def shortage(self, assignment: Assignment) -> str:
        """Nothing is ever waited for."""
        return f"Starting {assignment.spec.phase}"

    def leave(self) -> None:
        """There is nothing to leave."""


Cluster = RayCluster | ThisProcess


def join() -> Cluster:
    """Join the cluster that `RAY_ADDRESS` names, or the one on this machine.

    Without `RAY_ADDRESS` and without a cluster on this machine the work is done in this
    process, and the log says so. A cluster that is named but gone is an error: the retry may
    find it back.

    Raises:
        ServiceUnavailable: `RAY_ADDRESS` is set, and nobody answers there.
    """
    named = os.environ.get("RAY_ADDRESS")
    if named:
        return RayCluster(named)
    try:
        return RayCluster("auto")
    except ServiceUnavailable as error:
        logger.warning("RAY_ADDRESS is not set, and: %s. Working in this process.", error)
        return ThisProcess()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def not_started(seconds: float, shortage: str) -> JobNotStarted:
    """The error of work that Ray never began."""
    return JobNotStarted(
        f"Ray did not start the work within {seconds:.0f} s. {shortage}; free some, add nodes, "
        "or lower hardware in the pipeline"
    )
