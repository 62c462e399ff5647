"""What events did not tell: found by looking, within bounded work a turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import NamedTuple

from contracts import layout
from contracts.ledger import PipelineRecord
from contracts.names import AttemptKey
from lambdas.control_plane import ControlPlane
from lambdas.logic.reconcile_job import reconcile_job, reconcile_leftover
from lambdas.logic.reconcile_pipeline import reconcile_pipeline
from lambdas.logic.reconcile_set import reconcile_set
from lambdas.logic.tell_uploaders import go_on_telling

PIPELINES_PER_TURN = 200
JOBS_PER_TURN = 200
FOLDERS_PER_TURN = 50
FOLDERS_S = 10.0
"""No folder is begun later in its part of a turn; those left out come in the next round."""
TELLINGS_PER_TURN = 1
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
    sweep = _Sweep(plane)
    pipelines = plane.ledger.pipelines.next_for_sweep(PIPELINES_PER_TURN)
    silent: list[int] = []
    for pipeline in pipelines:
        look = partial(_see_to, pipeline, plane, silent)
        sweep.attempt(f"pipeline {pipeline.name}", look)
    jobs = plane.ledger.attempts.possible_jobs(JOBS_PER_TURN)
    for key in jobs:
        sweep.attempt(f"job {key.job_name}", partial(reconcile_job, key, plane))
    sweep.uploads()
    sweep.leftovers(jobs)
    return Turn(len(pipelines), len(jobs), tuple(sweep.failures), sum(silent))


class _Sweep:
    """One turn; whatever is wrong with one thing, the next turn looks at it again."""

    def __init__(self, plane: ControlPlane) -> None:
        self.failures: list[str] = []
        self._plane = plane

    def attempt(self, what: str, work: Callable[[], None]) -> None:
        """Do it; whatever goes wrong with one, the others need their turn."""
        try:
            work()
        except Exception as error:
            self.failures.append(f"{what}: {type(error).__name__}: {error}")

    def uploads(self) -> None:
        """Folders that wait for their seal, and uploaders who are yet to be told."""
        plane = self._plane
        until = plane.clock.now() + timedelta(seconds=FOLDERS_S)
        for folder in plane.ledger.sets.next_unsealed(FOLDERS_PER_TURN):
            if plane.clock.now() > until:
                break
            place = layout.set_folder(folder.pipeline, folder.folder)
            self.attempt(f"folder {place}", partial(reconcile_set, folder, plane))
        for key in plane.ledger.telling.next(TELLINGS_PER_TURN):
            self.attempt(f"reports of {key.job_name}", partial(go_on_telling, key, plane))

    def leftovers(self, jobs: Sequence[AttemptKey]) -> None:
        """What the runner lists beside the ledger's jobs."""
        found: list[AttemptKey] = []
        self.attempt("the runner's jobs", lambda: found.extend(_beside(jobs, self._plane)))
        for key in found:
            self.attempt(f"leftover {key.job_name}", partial(reconcile_leftover, key, self._plane))


def _see_to(pipeline: PipelineRecord, plane: ControlPlane, silent: list[int]) -> None:
    silent.append(reconcile_pipeline(pipeline, plane))


def _beside(jobs: Sequence[AttemptKey], plane: ControlPlane) -> Iterable[AttemptKey]:
    """Jobs that the runner lists and the ledger did not, within bounds."""
    listed = (key for key in plane.runner.list() if key not in jobs)
    return islice(listed, LEFTOVERS_PER_TURN)
