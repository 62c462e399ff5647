"""What events did not tell: found by looking, within bounded work a turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

from contracts import layout
from contracts.ledger import PipelineRecord, Repair, Unsealed
from contracts.names import AttemptKey
from lambdas.control_plane import ControlPlane
from lambdas.logic.reconcile_job import reconcile_job, reconcile_leftover
from lambdas.logic.reconcile_pipeline import reconcile_pipeline
from lambdas.logic.reconcile_set import reconcile_set
from lambdas.logic.tell_uploaders import go_on_telling

TURN_S = 36.0
"""Nothing is begun later in a turn: the function has 55 s, a call of a cluster may take 17."""
PIPELINES_PER_TURN = 200
PIPELINES_S = 24.0
"""No pipeline is begun later in its part of a turn; the next turn begins with those left out."""
JOBS_PER_TURN = 200
JOBS_S = 8.0
FOLDERS_PER_TURN = 50
FOLDERS_S = 10.0
TELLINGS_PER_TURN = 1
LEFTOVERS_PER_TURN = 200
LEFTOVERS_S = 10.0

T = TypeVar("T")


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
    pipelines = sweep.pipelines()
    jobs = sweep.jobs()
    sweep.uploads()
    sweep.leftovers()
    return Turn(pipelines, jobs, tuple(sweep.failures), sum(sweep.silent))


class _Sweep:
    """One turn; whatever is wrong with one thing, the next turn looks at it again."""

    def __init__(self, plane: ControlPlane) -> None:
        self.failures: list[str] = []
        self.silent: list[int] = []
        self._plane = plane
        self._over = plane.clock.now() + timedelta(seconds=TURN_S)
        self._jobs: Sequence[AttemptKey] = ()

    def pipelines(self) -> int:
        """Pipelines, whose live jobs are kept alive by this: they come first."""
        ledger, plane = self._plane.ledger.pipelines, self._plane
        repair = self._plane.ledger.repairs.get()

        def see_to(pipeline: PipelineRecord) -> None:
            look = partial(_see_to, pipeline, plane, repair, self.silent)
            self._attempt(f"pipeline {pipeline.name}", look)

        found = ledger.next_for_sweep(PIPELINES_PER_TURN)
        done = self._each(found, PIPELINES_S, see_to)
        if done < len(found):
            ledger.stopped_at(found[done - 1])
        return done

    def jobs(self) -> int:
        """Jobs that may still exist."""
        ledger = self._plane.ledger.attempts

        def see_to(key: AttemptKey) -> None:
            self._attempt(f"job {key.job_name}", partial(reconcile_job, key, self._plane))

        if self._is_over():
            return 0
        self._jobs = found = ledger.possible_jobs(JOBS_PER_TURN)
        done = self._each(found, JOBS_S, see_to)
        if done < len(found):
            ledger.stopped_at(found[done - 1])
        return done

    def uploads(self) -> None:
        """Folders that wait for their seal, and uploaders who are yet to be told."""
        ledger, plane = self._plane.ledger, self._plane

        def see_to(folder: Unsealed) -> None:
            place = layout.set_folder(folder.pipeline, folder.folder)
            self._attempt(f"folder {place}", partial(reconcile_set, folder, plane))

        if not self._is_over():
            found = ledger.sets.next_unsealed(FOLDERS_PER_TURN)
            done = self._each(found, FOLDERS_S, see_to)
            if done < len(found):
                ledger.sets.stopped_at(found[done - 1])
        if not self._is_over():
            for key in ledger.telling.next(TELLINGS_PER_TURN):
                self._attempt(f"reports of {key.job_name}", partial(go_on_telling, key, plane))

    def leftovers(self) -> None:
        """What the runner lists beside the ledger's jobs."""
        found: list[AttemptKey] = []

        def see_to(key: AttemptKey) -> None:
            self._attempt(f"leftover {key.job_name}", partial(reconcile_leftover, key, self._plane))

        if not self._is_over():
            jobs, plane = self._jobs, self._plane
            self._attempt("the runner's jobs", lambda: found.extend(_beside(jobs, plane)))
            self._each(found, LEFTOVERS_S, see_to)

    def _attempt(self, what: str, work: Callable[[], None]) -> None:
        """Do it; whatever goes wrong with one, the others need their turn."""
        try:
            work()
        except Exception as error:
            self.failures.append(f"{what}: {type(error).__name__}: {error}")

    def _each(self, found: Sequence[T], seconds: float, see_to: Callable[[T], None]) -> int:
        """See to one after the other while there is time, to the first in any case; how many."""
        until = min(self._over, self._plane.clock.now() + timedelta(seconds=seconds))
        for number, one in enumerate(found):
            if number and self._plane.clock.now() > until:
                return number
            see_to(one)
        return len(found)

    def _is_over(self) -> bool:
        return self._plane.clock.now() > self._over


def _see_to(
    pipeline: PipelineRecord, plane: ControlPlane, repair: Repair | None, silent: list[int]
) -> None:
    silent.append(reconcile_pipeline(pipeline, plane, repair))


def _beside(jobs: Sequence[AttemptKey], plane: ControlPlane) -> Iterable[AttemptKey]:
    """Jobs that the runner lists and the ledger did not, within bounds."""
    listed = (key for key in plane.runner.list() if key not in jobs)
    return islice(listed, LEFTOVERS_PER_TURN)
