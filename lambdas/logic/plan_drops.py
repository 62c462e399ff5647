"""Which of the waiting drops a run takes, and which object versions of the sets among them."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.ledger import DropRecord, RunRecord
from contracts.limits import OBJECTS_PER_RUN_MAX, SETS_PER_RUN_MAX
from contracts.pipeline import DataRules
from contracts.plan import PlannedDrop, PlannedObject
from lambdas.control_plane import ControlPlane
from lambdas.logic.refuse import report_refusal
from lambdas.logic.survey_set import survey_set
from lambdas.logic.upload_key import Refusal, read_upload_key
from lambdas.time_left import TimeLeft


class DropsPlanner:
    """Takes drops in the order of their arrival until the run is full, or the time over."""

    def __init__(
        self, run: RunRecord, rules: DataRules, plane: ControlPlane, left: TimeLeft
    ) -> None:
        self._run = run
        self._rules = rules
        self._plane = plane
        self._left = left
        self._taken: list[PlannedDrop] = []
        self._room = OBJECTS_PER_RUN_MAX
        self._folders: set[str] = set()
        self._full = False

    def take(self, waiting: Iterable[DropRecord]) -> tuple[PlannedDrop, ...]:
        """Choose; a set of which nothing can be taken is refused in writing.

        Later seals of a folder whose set is taken go with it, even when the run is full: alone
        they would find nothing new.
        """
        for drop in waiting:
            folder = folder_of(drop.key)
            if folder and folder in self._folders:
                self._taken.append(planned(drop, ()))
            elif self._full:
                continue
            elif folder:
                self._take_set(drop, folder)
                self._full = self._full or self._left.is_over
            else:
                self._add(planned(drop))
        return tuple(self._taken)

    def _take_set(self, drop: DropRecord, folder: str) -> None:
        survey = survey_set(drop.pipeline, folder, self._rules, self._plane)
        if survey.refusal is not None:
            self._refuse(drop, survey.refusal)
        elif len(survey.objects) > self._room:
            self._full = True
        else:
            self._folders.add(folder)
            self._add(planned(drop, survey.objects))

    def _add(self, drop: PlannedDrop) -> None:
        self._taken.append(drop)
        self._room -= 1 if drop.objects is None else len(drop.objects)
        self._full = self._room < 1 or len(self._folders) >= SETS_PER_RUN_MAX

    def _refuse(self, drop: DropRecord, refusal: Refusal) -> None:
        run = self._run.run
        report_refusal(drop.key, drop.version_id, refusal, self._plane, run=run)
        self._plane.ledger.drops.reject_waiting(drop, run, refusal.reason)


def folder_of(key: str) -> str:
    """The folder that a drop's key seals; empty for a file."""
    upload = read_upload_key(key)
    return upload.folder if upload.kind == "seal" else ""


def planned(drop: DropRecord, objects: tuple[PlannedObject, ...] | None = None) -> PlannedDrop:
    """A drop as a plan names it."""
    total = drop.size if objects is None else sum(one.size for one in objects)
    return PlannedDrop(
        id=drop.id,
        key=drop.key,
        version_id=drop.version_id,
        size=total,
        accepted_at=drop.accepted_at,
        objects=objects,
    )
