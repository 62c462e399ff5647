"""What events did not tell: found by looking, within bounded work a turn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from contracts import layout
from lambdas.control_plane import ControlPlane
from lambdas.logic.reconcile_job import reconcile_job
from lambdas.logic.reconcile_pipeline import reconcile_pipeline
from lambdas.logic.reconcile_set import reconcile_set
from lambdas.logic.tell_uploaders import go_on_telling

PIPELINES_PER_TURN = 200
JOBS_PER_TURN = 200
FOLDERS_PER_TURN = 50
FOLDERS_S = 10.0
"""No folder is begun later in its part of a turn; those left out come in the next round."""
TELLINGS_PER_TURN = 1


class Turn(NamedTuple):
    """What one turn saw, and what of it could not be put right this time."""

    pipelines: int
    jobs: int
    failures: tuple[str, ...]


def reconcile(plane: ControlPlane) -> Turn:
    """One turn of the sweep: a pipeline or job that fails keeps none of the others back."""
    failures: list[str] = []

    def attempt(what: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            # Whatever is wrong with one, the others need their turn; the next turn looks again.
            failures.append(f"{what}: {type(error).__name__}: {error}")

    pipelines = plane.ledger.pipelines.next_for_sweep(PIPELINES_PER_TURN)
    for pipeline in pipelines:
        attempt(f"pipeline {pipeline.name}", partial(reconcile_pipeline, pipeline, plane))
    jobs = plane.ledger.attempts.possible_jobs(JOBS_PER_TURN)
    for key in jobs:
        attempt(f"job {key.job_name}", partial(reconcile_job, key, plane))
    until = plane.clock.now() + timedelta(seconds=FOLDERS_S)
    for folder in plane.ledger.sets.next_unsealed(FOLDERS_PER_TURN):
        if plane.clock.now() > until:
            break
        place = layout.set_folder(folder.pipeline, folder.folder)
        attempt(f"folder {place}", partial(reconcile_set, folder, plane))
    for key in plane.ledger.telling.next(TELLINGS_PER_TURN):
        attempt(f"reports of {key.job_name}", partial(go_on_telling, key, plane))
    return Turn(len(pipelines), len(jobs), tuple(failures))
