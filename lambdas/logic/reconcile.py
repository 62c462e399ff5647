"""What events did not tell: found by looking, within bounded work a turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from contracts.ledger import PipelineRecord
from contracts.names import AttemptKey
from lambdas.control_plane import ControlPlane
from lambdas.logic.reconcile_job import reconcile_job, reconcile_leftover
from lambdas.logic.reconcile_pipeline import reconcile_pipeline

PIPELINES_PER_TURN = 200
JOBS_PER_TURN = 200
LEFTOVERS_PER_TURN = 200


class Turn(NamedTuple):
    """What one turn saw, and what of it could not be put right this time."""

    pipelines: int
    jobs: int
    failures: tuple[str, ...]
    silent: int = 0
    """Phases without progress for long."""


def reconcile(plane: ControlPlane) -> Turn:
    """One turn of the sweep: a pipeline or job that fails keeps none of the others back."""
    failures: list[str] = []

    def attempt(what: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            # Whatever is wrong with one, the others need their turn; the next turn looks again.
            failures.append(f"{what}: {type(error).__name__}: {error}")

    silent: list[int] = []

    def see_to(pipeline: PipelineRecord) -> None:
        silent.append(reconcile_pipeline(pipeline, plane))

    pipelines = plane.ledger.pipelines.next_for_sweep(PIPELINES_PER_TURN)
    for pipeline in pipelines:
        attempt(f"pipeline {pipeline.name}", partial(see_to, pipeline))
    jobs = plane.ledger.attempts.possible_jobs(JOBS_PER_TURN)
    for key in jobs:
        attempt(f"job {key.job_name}", partial(reconcile_job, key, plane))
    leftovers: list[AttemptKey] = []
    attempt("the runner's jobs", lambda: leftovers.extend(_beside(jobs, plane)))
    for key in leftovers:
        attempt(f"leftover {key.job_name}", partial(reconcile_leftover, key, plane))
    return Turn(len(pipelines), len(jobs), tuple(failures), sum(silent))


def _beside(jobs: Sequence[AttemptKey], plane: ControlPlane) -> Iterable[AttemptKey]:
    """Jobs that the runner lists and the ledger did not, within bounds."""
    listed = (key for key in plane.runner.list() if key not in jobs)
    return islice(listed, LEFTOVERS_PER_TURN)
